/**
 * Asks the registry for known weaknesses of the packages that ship: what esbuild took into the functions'
 * bundles, and what an installed `skyhook` needs. Fails on a high or critical one. Not a part of `check`:
 * what it says changes with the news, and not with the code.
 */
import { spawnSync } from "node:child_process";
import { build } from "esbuild";
import { bundledPackages, findingsOf } from "./audit-findings.mjs";
import { FUNCTIONS } from "./bundling.mjs";

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
