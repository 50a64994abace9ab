/**
 * Asks the registry for known vulnerabilities of the shipped packages: those in the functions' bundles, and those
 * that an installed `skyhook` needs. Fails on a high or critical one. Not a part of `npm run check`, because the
 * result changes with new advisories and not with the code.
 */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { FUNCTIONS } from "./bundling.mjs";
import { packageFolders } from "./notices.mjs";

const FAILING = ["high", "critical"];

/** Names of the packages with code in the bundles of the functions. @param metafile of an esbuild build */
export const bundledPackages = ({ outputs }) =>
  new Set(
    Object.values(outputs)
      .flatMap(packageFolders)
      .map((folder) => folder.split("node_modules/").at(-1)),
  );

/**
 * @param report of `npm audit --omit=dev --json`
 * @param bundled packages in the bundles of the functions
 * @returns one line for each vulnerable package, with the place where it ships; `isFailure` if one is high or
 * critical. Undefined if the registry does not support audits
 */
export const findingsOf = ({ vulnerabilities }, bundled) => {
  if (vulnerabilities === undefined) return undefined;
  const found = Object.values(vulnerabilities);
  return {
    lines: found.map(({ name, severity, range }) => {
      const place = bundled.has(name)
        ? "in the functions and the command line"
        : "in the command line";
      return `${severity}: ${name} ${range}, ${place}`;
    }),
    isFailure: found.some(({ severity }) => FAILING.includes(severity)),
  };
};

if (realpathSync(process.argv[1] ?? ".") === fileURLToPath(import.meta.url)) {
  const { metafile } = await build({ ...FUNCTIONS, outdir: "dist/functions", write: false });
  const bundled = bundledPackages(metafile);
  process.stdout.write(`packages in the functions' bundles: ${[...bundled].sort().join(", ")}\n`);

  const { stdout } = spawnSync("npm", ["audit", "--omit=dev", "--json"], { encoding: "utf8" });
  const findings = findingsOf(JSON.parse(stdout || "{}"), bundled);
  if (findings === undefined) {
    process.stdout.write("NOT RUN: npm audit; the registry does not answer audit requests\n");
  } else {
    for (const line of findings.lines) process.stdout.write(`${line}\n`);
    process.stdout.write(`${findings.lines.length} packages with known vulnerabilities\n`);
    if (findings.isFailure) process.exitCode = 1;
  }
}
