import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook } from "../../support/skyhook-process.ts";

const PROGRAM = new URL("../../../dist/skyhook.mjs", import.meta.url);

/** The packages that a file of the built program and its static imports load. */
const packagesOf = (file: URL, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(file.href)) return seen;
  seen.add(file.href);
  const imports = readFileSync(file, "utf8").matchAll(
    /^(?:import|export|\} from) ?.*?"([^"]+)";$/gm,
  );
  for (const [, name = ""] of imports) {
    if (name.startsWith(".")) packagesOf(new URL(name, file), seen);
    else seen.add(name);
  }
  return seen;
};

/** The modules of the verbs in the built program, by name. */
const verbModules = [
  ...readFileSync(PROGRAM, "utf8").matchAll(/import\("(\.\/skyhook\/([\w-]+)-\w+\.mjs)"\)/g),
].map(([, path = "", name = ""]) => [name, new URL(path, PROGRAM)] as const);

const SLOW = /^(level|hono|@hono|@aws-sdk|memory-level)/;

describe("the command line", () => {
  it("loads no database, server or AWS SDK before a verb runs", () => {
    expect(verbModules.map(([name]) => name)).toContain("send");
    for (const [name, module] of [["main", PROGRAM] as const, ...verbModules]) {
      const slow = [...packagesOf(module)].filter((each) => SLOW.test(each));
      expect({ name, slow }).toEqual({ name, slow: [] });
    }
  });

  it("loads no schema of the interface and no YAML for the help", () => {
    const packages = packagesOf(PROGRAM);

    expect(packages).toContain("commander");
    expect(packages).not.toContain("yaml");
    expect(packages).not.toContain("lossless-json");
  });

  it("lists each verb with the arguments that the verb declares", async () => {
    const { stdout } = await runSkyhook(["--help"]);
    const listed = [...stdout.matchAll(/^ {2}([a-z-]+ \[options\] \S+)/gm)].map(([, term]) => term);

    expect(listed).toHaveLength(8);
    for (const term of listed) {
      const [verb = ""] = (term ?? "").split(" ");
      expect((await runVerb([verb, "--help"])).stdout).toContain(`Usage: skyhook ${term}\n`);
    }
  });
});
