/**
 * Keeps the files that are made from schemas equal to them: `write` makes them, `check` fails when
 * one is stale, or when an independent validator finds that openapi.json is no OpenAPI 3.1.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Calls an export of a module of lib/, which Node 20 cannot import as it is. */
const callExport = async (module, name) => {
  // A file of its own: an error in a data: URL prints the whole program.
  const bundle = resolve("dist", "generated", `${name}.mjs`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: [module],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    outfile: bundle,
  });
  const { [name]: make } = await import(pathToFileURL(bundle).href);
  return make();
};

const OPENAPI = "lib/contract/openapi.json";

/** What is made: file, and the module and export that make it. */
const GENERATED = [{ file: OPENAPI, module: "lib/contract/openapi.ts", name: "createOpenApi" }];

const fail = (message) => {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
};

const check = async (file, content, text) => {
  if (file === OPENAPI) {
    const { valid, errors } = await new Validator().validate(content);
    if (!valid) fail(`${file} is not valid OpenAPI: ${JSON.stringify(errors, undefined, 2)}`);
  }
  if (readFileSync(join(ROOT, file), "utf8") !== text) {
    fail(`${file} is not what its schemas say; run: npm run generate`);
  }
};

const ACTIONS = new Map([
  ["write", (file, _content, text) => writeFileSync(join(ROOT, file), text)],
  ["check", check],
]);

const action = ACTIONS.get(process.argv[2] ?? "");
if (!action) throw new Error(`usage: node infra/generated.mjs ${[...ACTIONS.keys()].join(" | ")}`);
for (const { file, module, name } of GENERATED) {
  const content = await callExport(module, name);
  await action(
    file,
    JSON.parse(JSON.stringify(content)),
    `${JSON.stringify(content, undefined, 2)}\n`,
  );
}
