/**
 * Bundles with esbuild: `functions` makes one bundle for each folder in functions/ and one for the
 * packaging to read config files with, `cli` makes the `skyhook` command, `bench` the benchmark, `simulation` the
 * simulation, `check` compares the sizes of the functions' bundles with their budgets. What is made goes
 * to dist/ of the working directory.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { build } from "esbuild";
import { overBudget, sizesOf } from "./bundle-sizes.mjs";
import { BASE, FOR_LAMBDA, FUNCTIONS, YAML_OF_BROWSERS } from "./bundling.mjs";

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

/** The main module of an AWS client. */
const CLIENT = /@aws-sdk\/(client-[a-z0-9-]+)\/dist-es\/(\w+Client)\.js$/;

/** The AWS clients in a bundle: `S3Client` of `client-s3`. */
const clientsIn = (inputs) =>
  Object.keys(inputs)
    .map((file) => CLIENT.exec(file))
    .filter((match) => match !== null)
    .map(([, folder, client]) => ({ from: `@aws-sdk/${folder}`, client }));

/** A handler that could ask AWS as the function can, and does nothing. */
const floorOf = (inputs) => {
  const clients = clientsIn(inputs);
  const imports = clients.map(({ client, from }) => `import { ${client} } from "${from}";`);
  const made = clients.map(({ client }) => `new ${client}()`);
  return `${imports.join("\n")}\nexport const handler = async () => [${made.join(", ")}];`;
};

/**
 * What the benchmark of load times compares, beside the functions: a floor for each, and nothing. Makes
 * `functions/NAME/handler.mjs`, `floors/NAME/handler.mjs` and `bare/handler.mjs`.
 */
const buildLoadBundles = async (folder) => {
  const { metafile } = await build({ ...FUNCTIONS, outdir: join(folder, "functions") });
  for (const [file, { inputs }] of Object.entries(metafile.outputs)) {
    if (!file.endsWith(".mjs")) continue;
    const { outExtension: _, ...options } = FOR_LAMBDA;
    await build({
      ...options,
      stdin: { contents: floorOf(inputs), resolveDir: BASE.absWorkingDir },
      outfile: join(folder, "floors", basename(dirname(file)), "handler.mjs"),
    });
  }
  mkdirSync(join(folder, "bare"), { recursive: true });
  writeFileSync(join(folder, "bare", "handler.mjs"), "export const handler = async () => {};\n");
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

/** Bytes, minified, without the source map. A commit that raises one says why. */
const BUDGETS = {
  intake: 480_000,
  "run-commands": 500_000,
  "poll-tasks": 500_000,
  "watch-ai-tasks": 460_000,
  // They read a config: S3's client is 95 kB of them, the parser of YAML 98.
  "sync-thresholds": 650_000,
  "snapshot-prices": 650_000,
};

/** Fails when the bundle of a function is larger than it may be. Writes no file. */
const checkFunctions = async () => {
  const { metafile } = await build({ ...FUNCTIONS, outdir: join(DIST, "functions"), write: false });
  const problems = overBudget(metafile, BUDGETS);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
};

const BUILDS = new Map([
  ["check", checkFunctions],
  ["bench", buildBench],
  ["simulation", buildSimulation],
  ["functions", buildFunctions],
  ["cli", buildCli],
]);

const chosen = BUILDS.get(process.argv[2] ?? "");
if (!chosen) throw new Error(`usage: node infra/build.mjs ${[...BUILDS.keys()].join(" | ")}`);
await chosen();
