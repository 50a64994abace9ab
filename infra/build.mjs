/**
 * Bundles with esbuild: `functions` makes one bundle for each folder in functions/ and one for the
 * packaging to read config files with, `cli` makes the `skyhook` command, `bench` the benchmark. What is made goes to dist/ of the working directory.
 */
import { chmodSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = resolve("dist");

/** @type {import("esbuild").BuildOptions} */
const BASE = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  format: "esm",
  // The floor in package.json. The Lambda runtime is newer; its target makes no byte less.
  target: "node20",
  sourcemap: "linked",
  // Stack traces need no sources, and the map is a third of the size without them.
  sourcesContent: false,
  logLevel: "warning",
};

/**
 * The SDK's other sources of credentials, which it loads only when the environment has none. On
 * Lambda it always has. Without them a bundle is a fifth smaller.
 */
const NEVER_LOADED_ON_LAMBDA = [
  "@aws-sdk/credential-provider-http",
  "@aws-sdk/credential-provider-ini",
  "@aws-sdk/credential-provider-process",
  "@aws-sdk/credential-provider-sso",
  "@aws-sdk/credential-provider-web-identity",
  "@smithy/credential-provider-imds",
];

/** Its build for Node is CommonJS, which asks for Node's modules in a way that a bundle has not. */
const YAML_OF_BROWSERS = { yaml: join(ROOT, "node_modules", "yaml", "browser", "index.js") };

/** What infra/configured.cjs reads the files of a stage with. */
const buildConfigReader = () =>
  build({
    ...BASE,
    entryPoints: { "config-files": "lib/deployment/config-files.ts" },
    outdir: join(DIST, "infra"),
    outExtension: { ".js": ".mjs" },
    alias: YAML_OF_BROWSERS,
  });

const buildFunctions = async () => {
  await buildConfigReader();
  const names = readdirSync(join(ROOT, "functions"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const { metafile } = await build({
    ...BASE,
    entryPoints: names.map((name) => `functions/${name}/handler.ts`),
    outbase: "functions",
    outdir: join(DIST, "functions"),
    outExtension: { ".js": ".mjs" },
    minify: true,
    metafile: true,
    // ES modules first: without them nothing is shaken off the AWS SDK, and bundles double.
    mainFields: ["module", "main"],
    external: NEVER_LOADED_ON_LAMBDA,
    alias: YAML_OF_BROWSERS,
  });
  for (const [file, { bytes }] of Object.entries(metafile.outputs)) {
    if (file.endsWith(".mjs")) process.stdout.write(`${file} ${Math.round(bytes / 1000)} kB\n`);
  }
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

/** The load generator and the servers that it measures, as processes of their own. */
const buildBench = () =>
  build({
    ...BASE,
    entryPoints: ["test/bench/load.ts", "test/bench/subjects.ts", "test/bench/thresholds.ts"],
    outdir: join(DIST, "bench"),
    outExtension: { ".js": ".mjs" },
    packages: "external",
  });

const BUILDS = new Map([
  ["bench", buildBench],
  ["functions", buildFunctions],
  ["cli", buildCli],
]);

const chosen = BUILDS.get(process.argv[2] ?? "");
if (!chosen) throw new Error(`usage: node infra/build.mjs ${[...BUILDS.keys()].join(" | ")}`);
await chosen();
