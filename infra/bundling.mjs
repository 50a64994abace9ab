/**
 * Options of esbuild for all bundles: those of the packages, of the size check and of the load time benchmark.
 */
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { licenceNotices } from "./notices.mjs";
import { ownSourceMaps } from "./own-source-maps.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** @type {import("esbuild").BuildOptions} */
export const BASE = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  format: "esm",
  // The minimum in package.json. The Lambda runtime is newer, but its target does not make bundles smaller.
  target: "node20",
  sourcemap: "linked",
  // Stack traces need no sources. Without them the map has a third of the size.
  sourcesContent: false,
  logLevel: "warning",
};

/** The browser build of `yaml`. The one for Node is CommonJS and calls `require`, which an ES module bundle lacks. */
export const YAML_OF_BROWSERS = { yaml: join(ROOT, "node_modules", "yaml", "browser", "index.js") };

/**
 * Credential providers that the SDK loads only if the environment has no credentials. Lambda's environment always
 * has. Without these providers a bundle is a fifth smaller.
 */
const NEVER_LOADED_ON_LAMBDA = [
  "@aws-sdk/credential-provider-http",
  "@aws-sdk/credential-provider-ini",
  "@aws-sdk/credential-provider-process",
  "@aws-sdk/credential-provider-sso",
  "@aws-sdk/credential-provider-web-identity",
  "@smithy/credential-provider-imds",
];

const DESCRIPTION =
  /[\\/]@aws-sdk[\\/]client-[a-z0-9-]+[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/;

const SHAPE = /^((?:export )?var \w+\$? = )(\[[\s\S]*?\]);$/gm;
const REGISTRATION = /^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm;

/**
 * Removes unused parts of the AWS clients from a bundle. A client describes all its operations and errors in one
 * file, which esbuild must keep nearly whole: it cannot know that an array of objects with computed keys has no
 * side effects, and every error is registered.
 *
 * The SDK throws an error that is not registered as the client's base class, with the same message and status and
 * the name that AWS sent. So only the errors that the adapters name are kept. Two things differ for the others.
 * SQS sends names of its older API (`AWS.SimpleQueueService.NonExistentQueue`), which the SDK translates only for
 * registered errors (`QueueDoesNotExist`); keeping them costs 10 kB per bundle. And the SDK would retry one error
 * by its class, `ReplicatedWriteConflictException` of DynamoDB global tables; the ledger is no global table.
 * @param adapters folder of the files that name errors of the SDK
 */
const shakeSdk = (adapters) => ({
  name: "shake-sdk",
  setup({ onLoad }) {
    const ours = readdirSync(adapters).map((file) => readFileSync(join(adapters, file), "utf8"));
    const isNamed = (error) => ours.some((text) => new RegExp(`\\b${error}\\b`).test(text));
    onLoad({ filter: DESCRIPTION }, async ({ path }) => {
      const description = await readFile(path, "utf8");
      const contents = description
        .replace(REGISTRATION, (line, error) => (isNamed(error) ? line : ""))
        .replace(SHAPE, "$1/* @__PURE__ */ (() => $2)();");
      return { contents, loader: "js" };
    });
  },
});

const ZOD_SCHEMAS = /[\\/]zod[\\/]v4[\\/]core[\\/]schemas\.js$/;
/** Where zod parses an object: compiled, unless that is off. */
const IF_COMPILED = "if (jit && fastEnabled && ctx?.async === false && ctx.jitless !== true) {";
/** To compile the schema of an object takes as long as about so many parses without. */
const PARSES_BEFORE = 30;

/**
 * zod compiles the schema of an object when it first parses one, and many schemas of a short program parse one or two.
 * In a bundle it begins the way that it goes where `eval` is forbidden, and compiles schemas that go on being used.
 */
export const compileSchemasLate = {
  name: "compile-schemas-late",
  setup({ onLoad }) {
    onLoad({ filter: ZOD_SCHEMAS }, async ({ path }) => {
      const schemas = await readFile(path, "utf8");
      const contents = schemas
        .replace(IF_COMPILED, IF_COMPILED.replace(") {", ` && (parses += 1) > ${PARSES_BEFORE}) {`))
        .replace("let fastpass;", "let fastpass;\n    let parses = 0;");
      const isFound = schemas.includes(IF_COMPILED) && schemas.includes("let fastpass;");
      const errors = isFound ? [] : [{ text: `${path}: nothing to change: ${IF_COMPILED}` }];
      return { contents, loader: "js", errors };
    });
  },
};

/** Options of every bundle that Lambda loads. */
export const FOR_LAMBDA = {
  ...BASE,
  outExtension: { ".js": ".mjs" },
  minify: true,
  metafile: true,
  // ES modules first: esbuild cannot tree-shake the CommonJS build of the AWS SDK, which doubles a bundle.
  mainFields: ["module", "main"],
  external: NEVER_LOADED_ON_LAMBDA,
  alias: YAML_OF_BROWSERS,
  plugins: [shakeSdk(join(ROOT, "lib", "platform", "aws")), compileSchemasLate],
};

/** One bundle `NAME/handler.mjs` for each folder in functions/, with its notices. The caller adds `outdir`. */
export const FUNCTIONS = {
  ...FOR_LAMBDA,
  plugins: [...FOR_LAMBDA.plugins, licenceNotices(), ownSourceMaps],
  entryPoints: readdirSync(join(ROOT, "functions"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `functions/${name}/handler.ts`),
  outbase: "functions",
};
