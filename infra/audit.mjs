/**
 * Asks the registry for known weaknesses of the packages that ship: what esbuild took into the functions'
 * bundles, and what an installed `skyhook` needs. Fails on a high or critical one. Not a part of `check`:
 * its answer changes with the news, not with the code.
 */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { FUNCTIONS } from "./bundling.mjs";

const FAILING = ["high", "critical"];

/** The packages with code in the bundles of the functions. */
export const bundledPackages = ({ outputs }) =>
  new Set(
    Object.values(outputs)
      .flatMap(({ inputs }) => Object.entries(inputs))
      .filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && file.includes("node_modules/"))
      .map(([file]) => {
        const [scope, name] = file.split("node_modules/").at(-1).split("/");
        return scope.startsWith("@") ? `${scope}/${name}` : scope;
      }),
  );

/**
 * @param report of `npm audit --omit=dev --json`
 * @param bundled packages in the bundles of the functions
 * @returns a line for each package with a known weakness and where it ships; whether one of them is
 * reason enough to stop; undefined where the registry has no answer
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
  process.stdout.write(`in the functions' bundles: ${[...bundled].sort().join(", ")}\n`);

  const { stdout } = spawnSync("npm", ["audit", "--omit=dev", "--json"], { encoding: "utf8" });
  const findings = findingsOf(JSON.parse(stdout || "{}"), bundled);
  if (findings === undefined) {
    process.stdout.write("NOT RUN, the registry answers no audit: npm audit\n");
  } else {
    for (const line of findings.lines) process.stdout.write(`${line}\n`);
    process.stdout.write(`${findings.lines.length} packages with known weaknesses\n`);
    if (findings.isFailure) process.exitCode = 1;
  }
}
