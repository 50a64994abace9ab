/**
 * Keeps lib/contract/openapi.json equal to the contract: `write` makes it, `check` fails when it is
 * stale or when an independent validator finds it is no OpenAPI 3.1.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FILE = fileURLToPath(new URL("../lib/contract/openapi.json", import.meta.url));

// A file of its own: an error in a data: URL prints the whole program.
const BUNDLE = resolve("dist", "openapi.mjs");
await build({
  absWorkingDir: ROOT,
  entryPoints: ["lib/contract/openapi.ts"],
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  outfile: BUNDLE,
});
const { createOpenApi } = await import(pathToFileURL(BUNDLE).href);
const text = `${JSON.stringify(createOpenApi(), undefined, 2)}\n`;

const fail = (message) => {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
};

const check = async () => {
  const { valid, errors } = await new Validator().validate(JSON.parse(text));
  if (!valid) fail(`openapi.json is not valid OpenAPI: ${JSON.stringify(errors, undefined, 2)}`);
  if (readFileSync(FILE, "utf8") !== text) {
    fail("lib/contract/openapi.json is not what the contract says; run: npm run openapi");
  }
};

const ACTIONS = new Map([
  ["write", () => writeFileSync(FILE, text)],
  ["check", check],
]);

const action = ACTIONS.get(process.argv[2] ?? "");
if (!action) throw new Error(`usage: node infra/openapi.mjs ${[...ACTIONS.keys()].join(" | ")}`);
await action();
