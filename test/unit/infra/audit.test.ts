import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

interface Audit {
  bundledPackages(metafile: object): ReadonlySet<string>;
  findingsOf(
    report: object,
    shipped: Readonly<Record<"functions" | "npmPackage", ReadonlySet<string>>>,
  ): { readonly lines: readonly string[]; readonly isFailure: boolean } | undefined;
}

const { bundledPackages, findingsOf }: Audit = await import(
  /* @vite-ignore */ pathToFileURL(resolve("infra/audit.mjs")).href
);

const vulnerable = (name: string, severity: string) => ({
  [name]: { name, severity, range: "<2.0.0" },
});

test("the packages of a bundle are those with code in it", () => {
  const inputs = {
    "node_modules/zod/v4/core.js": { bytesInOutput: 9 },
    "node_modules/@aws-sdk/core/dist/a.js": { bytesInOutput: 9 },
    "node_modules/a/node_modules/@b/c/d.js": { bytesInOutput: 9 },
    "node_modules/tree-shaken/index.js": { bytesInOutput: 0 },
    "lib/contract/values.ts": { bytesInOutput: 9 },
  };

  const names = bundledPackages({ outputs: { "x/handler.mjs": { inputs } } });

  expect([...names]).toEqual(["zod", "@aws-sdk/core", "@b/c"]);
});

test.each([
  ["critical", true],
  ["high", true],
  ["moderate", false],
  ["low", false],
])(
  "a %s vulnerability of a shipped package is reported with its place; a failure: %s",
  (severity, isFailure) => {
    const vulnerabilities = {
      ...vulnerable("zod", severity),
      ...vulnerable("commander", "low"),
      ...vulnerable("a-tool-of-the-repository", "critical"),
    };

    const findings = findingsOf(
      { vulnerabilities },
      { functions: new Set(["zod"]), npmPackage: new Set(["zod", "commander"]) },
    );

    expect(findings).toEqual({
      lines: [
        `${severity}: zod <2.0.0, in the functions and the npm package`,
        "low: commander <2.0.0, in the npm package",
      ],
      isFailure,
    });
  },
);

test("a report without vulnerabilities has no line, and a registry without audits has no result", () => {
  const shipped = { functions: new Set<string>(), npmPackage: new Set<string>() };
  expect(findingsOf({ vulnerabilities: {} }, shipped)).toEqual({ lines: [], isFailure: false });
  expect(findingsOf({ statusCode: 405 }, shipped)).toBeUndefined();
});
