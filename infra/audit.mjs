/**
 * Asks the registry for known vulnerabilities of the shipped packages: those in the functions' bundles, and those
 * that the npm package bundles or needs. Fails on a high or critical one. Not a part of `npm run check`, because the
 * result changes with new advisories and not with the code.
 */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { FUNCTIONS } from "./bundling.mjs";
import { packageFolders } from "./notices.mjs";
import { bundlePublished } from "./published.mjs";

const FAILING = ["high", "critical"];

/** Names of the packages with code in a bundle. @param metafile of an esbuild build */
export const bundledPackages = ({ outputs }) =>
  new Set(
    Object.values(outputs)
      .flatMap(packageFolders)
      .map((folder) => folder.split("node_modules/").at(-1)),
  );

/**
 * @param report of `npm audit --json`, which covers the tools of the repository too
 * @param shipped names of packages: in the bundles of the functions, and in the npm package or installed with it
 * @returns one line for each vulnerable package that ships, with its place; `isFailure` if one is high or critical.
 * Undefined if the registry does not support audits
 */
export const findingsOf = ({ vulnerabilities }, { functions, npmPackage }) => {
  if (vulnerabilities === undefined) return undefined;
  const found = Object.values(vulnerabilities).filter(
    ({ name }) => functions.has(name) || npmPackage.has(name),
  );
  return {
    lines: found.map(({ name, severity, range }) => {
      const place = functions.has(name)
        ? "in the functions and the npm package"
        : "in the npm package";
      return `${severity}: ${name} ${range}, ${place}`;
    }),
    isFailure: found.some(({ severity }) => FAILING.includes(severity)),
  };
};

/** Names of the packages that npm installs with ours. */
const installedPackages = () => {
  const { stdout } = spawnSync("npm", ["ls", "--omit=dev", "--all", "--parseable"], {
    encoding: "utf8",
  });
  return stdout
    .split("\n")
    .filter((path) => path.includes("node_modules"))
    .map((path) => path.split(/node_modules[\\/]/).at(-1));
};

if (realpathSync(process.argv[1] ?? ".") === fileURLToPath(import.meta.url)) {
  const { metafile } = await build({ ...FUNCTIONS, outdir: "dist/functions", write: false });
  const functions = bundledPackages(metafile);
  const published = await bundlePublished(false);
  const npmPackage = new Set([...bundledPackages(published), ...installedPackages()]);
  const list = (names) => [...names].sort().join(", ");
  process.stdout.write(`packages in the functions' bundles: ${list(functions)}\n`);
  process.stdout.write(`packages in the npm package, or installed with it: ${list(npmPackage)}\n`);

  const { stdout } = spawnSync("npm", ["audit", "--json"], { encoding: "utf8" });
  const findings = findingsOf(JSON.parse(stdout || "{}"), { functions, npmPackage });
  if (findings === undefined) {
    process.stdout.write("NOT RUN: npm audit; the registry does not answer audit requests\n");
  } else {
    for (const line of findings.lines) process.stdout.write(`${line}\n`);
    process.stdout.write(`${findings.lines.length} packages with known vulnerabilities\n`);
    if (findings.isFailure) process.exitCode = 1;
  }
}
