/**
 * Generates files from schemas and commands of lib: `write` writes them, `check` fails if one is stale, or if an
 * independent validator finds that openapi.json is not valid OpenAPI 3.1.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const OPENAPI = "lib/contract/openapi.json";

/** Each generated file, and the expression for its text or its JSON. */
const GENERATED = [
  {
    file: OPENAPI,
    imports: { createOpenApi: "lib/contract/openapi.ts" },
    make: "createOpenApi()",
  },
  {
    file: "lib/jobs/thresholds/thresholds.schema.json",
    imports: {
      editorSchemaOf: "lib/config/editor-schema.ts",
      thresholdConfigSchema: "lib/jobs/thresholds/config.ts",
    },
    make: "editorSchemaOf(thresholdConfigSchema)",
  },
  {
    file: "lib/jobs/prices/watchlist.schema.json",
    imports: {
      editorSchemaOf: "lib/config/editor-schema.ts",
      watchlistSchema: "lib/jobs/prices/watchlist.ts",
    },
    make: "editorSchemaOf(watchlistSchema)",
  },
  {
    file: "lib/intake/reactions.schema.json",
    imports: {
      editorSchemaOf: "lib/config/editor-schema.ts",
      reactionsSchema: "lib/intake/reactions-config.ts",
    },
    make: "editorSchemaOf(reactionsSchema)",
  },
  {
    file: "lib/provider/accounts.schema.json",
    imports: {
      editorSchemaOf: "lib/config/editor-schema.ts",
      accountsSchema: "lib/provider/accounts-schema.ts",
    },
    make: "editorSchemaOf(accountsSchema)",
  },
  {
    file: "docs/reference/cli.md",
    imports: { cliReference: "lib/cli/reference.ts" },
    make: "cliReference()",
  },
  {
    file: "docs/reference/events.md",
    imports: {
      editorSchemaOf: "lib/config/editor-schema.ts",
      EVENT_DATA: "lib/events/catalogue.ts",
      metadataSchema: "lib/events/catalogue.ts",
      EVENT_EXAMPLES: "lib/events/examples.ts",
      REQUEST_EXAMPLES: "lib/events/examples.ts",
      commandRequestedSchema: "lib/engine/request.ts",
      taskFollowSchema: "lib/intake/ingest.ts",
      eventsPage: "infra/reference/events-page.mjs",
    },
    make: `(() => {
      const documented = (schemas, examples) =>
        Object.fromEntries(
          Object.entries(schemas).map(([name, schema]) => [
            name,
            { schema: editorSchemaOf(schema), example: examples[name] },
          ]),
        );
      const requests = {
        CommandRequested: commandRequestedSchema,
        TaskFollowRequested: taskFollowSchema,
      };
      return eventsPage({
        requests: documented(requests, REQUEST_EXAMPLES),
        metadata: editorSchemaOf(metadataSchema),
        events: documented(EVENT_DATA, EVENT_EXAMPLES),
      });
    })()`,
  },
  {
    file: "docs/reference/config.md",
    imports: {
      editorSchemaOf: "lib/config/editor-schema.ts",
      accountsSchema: "lib/provider/accounts-schema.ts",
      reactionsSchema: "lib/intake/reactions-config.ts",
      thresholdConfigSchema: "lib/jobs/thresholds/config.ts",
      watchlistSchema: "lib/jobs/prices/watchlist.ts",
      configPage: "infra/reference/config-page.mjs",
    },
    make: `configPage({
      accounts: editorSchemaOf(accountsSchema),
      reactions: editorSchemaOf(reactionsSchema),
      thresholds: editorSchemaOf(thresholdConfigSchema),
      watchlist: editorSchemaOf(watchlistSchema),
    })`,
  },
];

/** Evaluates an expression over exports of lib/. It bundles them first, because Node 20 cannot import TypeScript. */
const evaluate = async ({ file, imports, make }) => {
  const lines = Object.entries(imports).map(
    ([name, path]) => `import { ${name} } from "./${path}";`,
  );
  // Not a data: URL, because an error in one prints the whole program.
  const bundle = resolve("dist", "generated", `${basename(file)}.mjs`);
  await build({
    absWorkingDir: ROOT,
    stdin: { contents: `${lines.join("\n")}\nexport default ${make};`, resolveDir: ROOT },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    outfile: bundle,
  });
  return (await import(pathToFileURL(bundle).href)).default;
};

const fail = (message) => {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
};

const check = async (file, text) => {
  if (file === OPENAPI) {
    const { valid, errors } = await new Validator().validate(JSON.parse(text));
    if (!valid) fail(`${file}: not valid OpenAPI 3.1: ${JSON.stringify(errors, undefined, 2)}`);
  }
  const path = join(ROOT, file);
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
    fail(`${file} is stale; run: npm run generate`);
  }
};

const write = (file, text) => {
  const path = join(ROOT, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const ACTIONS = new Map([
  ["write", write],
  ["check", check],
]);

const action = ACTIONS.get(process.argv[2] ?? "");
if (!action) throw new Error(`usage: node infra/generated.mjs ${[...ACTIONS.keys()].join(" | ")}`);
for (const generated of GENERATED) {
  const made = await evaluate(generated);
  const text = typeof made === "string" ? made : `${JSON.stringify(made, undefined, 2)}\n`;
  await action(generated.file, text);
}
