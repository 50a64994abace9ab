/**
 * How esbuild makes bundles: for the packaging, the check of their sizes, and the benchmark of their
 * load times.
 */
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** @type {import("esbuild").BuildOptions} */
export const BASE = {
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

/** Its build for Node is CommonJS, which asks for Node's modules in a way that a bundle has not. */
export const YAML_OF_BROWSERS = { yaml: join(ROOT, "node_modules", "yaml", "browser", "index.js") };

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

const DESCRIPTION =
  /[\\/]@aws-sdk[\\/]client-[a-z0-9-]+[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/;

const SHAPE = /^((?:export )?var \w+\$? = )(\[[\s\S]*?\]);$/gm;
const REGISTRATION = /^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm;

/**
 * Shakes off a bundle what the AWS clients in it never use. A client describes all its operations
 * and errors in one file that esbuild has to keep nearly whole: it cannot know that an array of
 * objects with computed keys does nothing when it is made, and every error is registered.
 *
 * An error that is not registered is thrown as the client's base class, with the same message and
 * status, under the name that AWS sent: the SDK does so with every error that it does not know. So
 * those are kept that our adapters name. Two things differ for the others. SQS sends the names of its
 * old interface (`AWS.SimpleQueueService.NonExistentQueue`), which the SDK translates for those it knows
 * (`QueueDoesNotExist`); to keep its errors costs 10 kB a bundle. And one error would be sent again because of
 * its class, `ReplicatedWriteConflictException` of DynamoDB's global tables; the ledger is none.
 * @param adapters the folder of the files that name errors of the SDK
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

/** Of whatever Lambda loads. */
export const FOR_LAMBDA = {
  ...BASE,
  outExtension: { ".js": ".mjs" },
  minify: true,
  metafile: true,
  // ES modules first: without them nothing is shaken off the AWS SDK, and bundles double.
  mainFields: ["module", "main"],
  external: NEVER_LOADED_ON_LAMBDA,
  alias: YAML_OF_BROWSERS,
  plugins: [shakeSdk(join(ROOT, "lib", "platform", "aws"))],
};

/** One bundle for each folder in functions/, `NAME/handler.mjs`; where they go is to be added. */
export const FUNCTIONS = {
  ...FOR_LAMBDA,
  entryPoints: readdirSync(join(ROOT, "functions"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `functions/${name}/handler.ts`),
  outbase: "functions",
};
