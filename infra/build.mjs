/**
 * Bundles with esbuild: `functions` makes one bundle for each folder in functions/ and one for the
 * packaging to read config files with, `cli` makes the `skyhook` command, `bench` the benchmark, `simulation` the
 * simulation. What is made goes to dist/ of the working directory.
 */
import { chmodSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { sizesOf } from "./bundle-sizes.mjs";
import { BASE, FUNCTIONS, YAML_OF_BROWSERS } from "./bundling.mjs";
import { buildLoadBundles } from "./load-bundles.mjs";

const DIST = resolve("dist");

/** What infra/configured.cjs reads the files of a stage with. */
const buildConfigReader = () =>
  build({
    ...BASE,
    entryPoints: { "config-files": "lib/intake/config-files.ts" },
    outdir: join(DIST, "infra"),
    outExtension: { ".js": ".mjs" },
    alias: YAML_OF_BROWSERS,
  });

const buildFunctions = async () => {
  await buildConfigReader();
  const { metafile } = await build({ ...FUNCTIONS, outdir: join(DIST, "functions") });
  for (const size of sizesOf(metafile)) process.stdout.write(`${size}\n`);
};

/**
 * Our own code only; everything in node_modules stays there. Says nothing: `npm start` runs it.
 * Parts that few calls need are files of their own, loaded when they are needed; those of earlier
 * builds stay, because a program that is running may load one yet.
 */
const buildCli = async () => {
  await build({
    ...BASE,
    entryPoints: { skyhook: "lib/cli/main.ts" },
    outdir: DIST,
    outExtension: { ".js": ".mjs" },
    chunkNames: "skyhook/[name]-[hash]",
    splitting: true,
    packages: "external",
    banner: { js: "#!/usr/bin/env node" },
  });
  chmodSync(join(DIST, "skyhook.mjs"), 0o755);
};

/** The benchmarks, the servers that they measure as processes of their own, and what they load. */
const buildBench = async () => {
  const folder = join(DIST, "bench");
  await build({
    ...BASE,
    entryPoints: ["load", "subjects", "thresholds", "ledger", "load-times", "load-once"].map(
      (name) => `test/bench/${name}.ts`,
    ),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    packages: "external",
  });
  await buildLoadBundles(join(folder, "handlers"));
};

/** The simulation, and the process that runs its seeds. */
const buildSimulation = () =>
  build({
    ...BASE,
    entryPoints: ["simulate", "worker"].map((name) => `test/system/simulation/${name}.ts`),
    outdir: join(DIST, "simulation"),
    outExtension: { ".js": ".mjs" },
    packages: "external",
  });

const BUILDS = new Map([
  ["bench", buildBench],
  ["simulation", buildSimulation],
  ["functions", buildFunctions],
  ["cli", buildCli],
]);

const chosen = BUILDS.get(process.argv[2] ?? "");
if (!chosen) throw new Error(`usage: node infra/build.mjs ${[...BUILDS.keys()].join(" | ")}`);
await chosen();
