/**
 * How things are bundled with esbuild, whoever makes the bundles: the packaging, the check of their
 * sizes, the benchmark of their load times.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { shakeSdk } from "./shake-sdk.mjs";

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
