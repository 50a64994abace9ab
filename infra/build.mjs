/**
 * Builds bundles with esbuild into dist/ of the working directory. `functions` builds one bundle for each folder in
 * functions/ and one that packaging reads config files with; `cli` builds the `skyhook` command with the
 * console, `package` everything that the npm package contains, `prepare` what an install in the repository needs,
 * `bench` the benchmarks, `simulation` the simulation.
 * `check` compares the sizes of the functions' bundles and of the console's page with their limits.
 */
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { overLimit, sizesOf } from "./bundle-sizes.mjs";
import { BASE, FOR_LAMBDA, FUNCTIONS, YAML_OF_BROWSERS } from "./bundling.mjs";
import { withFewChunks } from "./chunks.mjs";
import { COMMAND_LINE } from "./command-line.mjs";
import { licenceNotices } from "./notices.mjs";
import { buildPublished, bundlePublished } from "./published.mjs";

const DIST = resolve("dist");

/** The module with which infra/configured.cjs reads the files of a stage. */
const buildConfigReader = () =>
  build({
    ...BASE,
    entryPoints: { "config-files": "lib/intake/config-files.ts" },
    outdir: join(DIST, "infra"),
    outExtension: { ".js": ".mjs" },
    alias: YAML_OF_BROWSERS,
    plugins: [licenceNotices()],
  });

const buildFunctions = async () => {
  await buildConfigReader();
  const { metafile } = await build({ ...FUNCTIONS, outdir: join(DIST, "functions") });
  for (const size of sizesOf(metafile)) process.stdout.write(`${size}\n`);
};

/** The console's page: one script and one style sheet, for browsers of the last two years. */
const PAGE = {
  absWorkingDir: BASE.absWorkingDir,
  entryPoints: ["main.tsx", "main.css"].map((file) => `lib/console/page/${file}`),
  outdir: join(DIST, "console"),
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome120", "firefox121", "safari17"],
  jsx: "automatic",
  jsxImportSource: "preact",
  plugins: [licenceNotices()],
  logLevel: "warning",
};
const PAGE_HTML = "lib/console/page/index.html";

const buildPage = async () => {
  await build(PAGE);
  copyFileSync(PAGE_HTML, join(PAGE.outdir, "index.html"));
};

/** The API reference of the service at `/docs`: a page of ours, and files of Swagger UI as published. */
const REFERENCE = {
  ...PAGE,
  entryPoints: ["main.ts", "main.css"].map((file) => `lib/service/docs-page/${file}`),
  outdir: join(DIST, "docs"),
};
const SWAGGER_UI = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
/** Its script and style sheet, with the licences that have to travel with them. */
const SWAGGER_UI_FILES = [
  "swagger-ui-bundle.js",
  "swagger-ui.css",
  "LICENSE",
  "NOTICE",
  "swagger-ui-bundle.js.LICENSE.txt",
];

const buildReference = async () => {
  await build(REFERENCE);
  copyFileSync("lib/service/docs-page/index.html", join(REFERENCE.outdir, "index.html"));
  for (const file of SWAGGER_UI_FILES) {
    copyFileSync(join(SWAGGER_UI, file), join(REFERENCE.outdir, file));
  }
};

/**
 * Bundles the sources and packages; the AWS clients stay in node_modules, which is the faster build. Prints nothing,
 * because `npm start` runs it. Parts that few commands need are chunks, loaded on demand. Chunks of earlier builds
 * stay, because a running program may still load one.
 */
const buildCli = async () => {
  await buildPage();
  await buildReference();
  const options = await withFewChunks({
    ...COMMAND_LINE,
    entryPoints: { skyhook: "lib/cli/main.ts" },
    outdir: DIST,
    chunkNames: "skyhook/[name]-[hash]",
    external: [...COMMAND_LINE.external, "@aws-sdk/*", "@smithy/*"],
    banner: { js: "#!/usr/bin/env node" },
  });
  await build(options);
  chmodSync(join(DIST, "skyhook.mjs"), 0o755);
};

/**
 * Everything that travels in the npm package. `npm pack` calls it. It packs whole folders, so what an earlier build has
 * left in them goes first.
 */
const buildPackage = async () => {
  for (const folder of ["console", "docs", "functions", "infra"]) {
    rmSync(join(DIST, folder), { recursive: true, force: true });
  }
  await buildPage();
  await buildReference();
  await buildFunctions();
  await buildPublished();
};

/** npm prepares after an install in the repository, and also after `prepack`: then the package is built already. */
const prepare = async () => {
  if (!["pack", "publish"].includes(process.env.npm_command ?? "")) await buildCli();
};

/** Matches the main module of an AWS client. */
const CLIENT = /@aws-sdk\/(client-[a-z0-9-]+)\/dist-es\/(\w+Client)\.js$/;

/** The AWS clients in a bundle: `S3Client` of `client-s3`. */
const clientsIn = (inputs) =>
  Object.keys(inputs)
    .map((file) => CLIENT.exec(file))
    .filter((match) => match !== null)
    .map(([, folder, client]) => ({ from: `@aws-sdk/${folder}`, client }));

/** Source of a handler that creates the same AWS clients as a function, and does nothing else. */
const floorOf = (inputs) => {
  const clients = clientsIn(inputs);
  const imports = clients.map(({ client, from }) => `import { ${client} } from "${from}";`);
  const made = clients.map(({ client }) => `new ${client}()`);
  return `${imports.join("\n")}\nexport const handler = async () => [${made.join(", ")}];`;
};

/**
 * Handlers for the load time benchmark: each function (`functions/NAME/handler.mjs`), a handler with the same AWS
 * clients and no other code (`floors/NAME/handler.mjs`), and an empty one (`bare/handler.mjs`).
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
  await build({
    ...FOR_LAMBDA,
    entryPoints: { handler: "test/bench/cold-start/clients-alone.ts" },
    outdir: join(folder, "clients-alone"),
  });
  mkdirSync(join(folder, "bare"), { recursive: true });
  writeFileSync(join(folder, "bare", "handler.mjs"), "export const handler = async () => {};\n");
};

/** The benchmarks, the servers that they start as processes, and the handlers that they load. */
const buildBench = async () => {
  const folder = join(DIST, "bench");
  await build({
    ...BASE,
    entryPoints: [
      "cost/cost",
      "cost/cost-worker",
      "million/million",
      "million/million-worker",
      "throughput/throughput",
      "sdk-poll/sdk-poll",
      "worker-cpu/worker-cpu",
      "worker-cpu/surroundings",
      "load",
      "subjects",
      "service-growth",
      "thresholds",
      "ledger",
      "load-times",
      "load-once",
      "command-line",
      "cold-start/cold-start",
      "cold-start/first-call",
      "console",
      "local-run",
    ].map((name) => `test/bench/${name}.ts`),
    entryNames: "[name]",
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    packages: "external",
  });
  // The workers as Lambda loads them.
  await build({
    ...FOR_LAMBDA,
    entryPoints: ["calls-worker", "skyhook-worker", "powertools-worker"].map(
      (name) => `test/bench/worker-cpu/${name}.ts`,
    ),
    entryNames: "[name]",
    outdir: folder,
  });
  await buildLoadBundles(join(folder, "handlers"));
};

/** The simulation, the search for planted bugs, and their worker processes. */
const buildSimulation = () =>
  build({
    ...BASE,
    entryPoints: ["simulate", "worker", "bugs/hunt", "bugs/seeker"].map(
      (name) => `test/system/simulation/${name}.ts`,
    ),
    entryNames: "[name]",
    outdir: join(DIST, "simulation"),
    outExtension: { ".js": ".mjs" },
    packages: "external",
  });

/** Size limits in bytes, minified and without the source map. A commit that raises one explains why. */
const SIZE_LIMITS = {
  intake: 480_000,
  "run-commands": 500_000,
  "poll-tasks": 505_000,
  "watch-ai-tasks": 460_000,
  // These read a config file: the S3 client takes 95 kB, the YAML parser 98 kB.
  "sync-thresholds": 650_000,
  "snapshot-prices": 650_000,
};

/** Limit of the page's files together in bytes, each compressed by gzip. */
const PAGE_LIMIT = 150_000;

const pageProblems = async () => {
  const { outputFiles } = await build({ ...PAGE, write: false });
  const files = [...outputFiles.map(({ contents }) => contents), readFileSync(PAGE_HTML)];
  const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  return bytes > PAGE_LIMIT
    ? [`console: ${bytes} bytes compressed, over its limit of ${PAGE_LIMIT} bytes`]
    : [];
};

/** Fails for a function or a page over its size limit, and for a licence that may not be bundled. Writes no file. */
const checkSizes = async () => {
  // Fails for a package whose licence may not be bundled, as the builds below do.
  await bundlePublished(false);
  const { metafile } = await build({ ...FUNCTIONS, outdir: join(DIST, "functions"), write: false });
  const problems = [...overLimit(metafile, SIZE_LIMITS), ...(await pageProblems())];
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
};

const BUILDS = new Map([
  ["check", checkSizes],
  ["bench", buildBench],
  ["simulation", buildSimulation],
  ["functions", buildFunctions],
  ["cli", buildCli],
  ["package", buildPackage],
  ["prepare", prepare],
]);

const chosen = BUILDS.get(process.argv[2] ?? "");
if (!chosen) throw new Error(`usage: node infra/build.mjs ${[...BUILDS.keys()].join(" | ")}`);
await chosen();
