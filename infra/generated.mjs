/**
 * Generates files from schemas and commands of lib: `write` writes them, `check` fails if one is stale, or if an
 * independent validator finds that openapi.json is not valid OpenAPI 3.1.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const OPENAPI = "lib/contract/openapi.json";

/** The schemas of the config files, and what makes a JSON Schema of one. */
const CONFIG_SCHEMAS = {
  editorSchemaOf: "lib/config/editor-schema.ts",
  accountsSchema: "lib/provider/accounts-schema.ts",
  reactionsSchema: "lib/intake/reactions-config.ts",
  thresholdConfigSchema: "lib/jobs/thresholds/config.ts",
  watchlistSchema: "lib/jobs/prices/watchlist.ts",
};

/** Each generated file, and the expression for its text or its JSON; or a folder, and that for all its files by path. */
const GENERATED = [
  {
    // Before the OpenAPI document, which contains it.
    file: "lib/contract/reply-examples.json",
    imports: {
      OPERATIONS: "lib/contract/operations.ts",
      OPERATION_EXAMPLES: "lib/contract/operation-examples.ts",
      OPTIONAL_QUERY_EXAMPLES: "lib/contract/operation-examples.ts",
      formatWireJson: "lib/contract/json.ts",
      createService: "lib/service/service.ts",
      createMemoryStore: "lib/service/store.ts",
      builtInState: "lib/service/state/state.ts",
      replyExamples: "infra/reference/reply-examples.mjs",
    },
    make: `await replyExamples({
      operations: OPERATIONS,
      examples: OPERATION_EXAMPLES,
      optionalQuery: OPTIONAL_QUERY_EXAMPLES,
      formatWireJson,
      startService: (ports) =>
        createService({ ...ports, store: createMemoryStore(), initialState: builtInState() }),
    })`,
  },
  {
    file: OPENAPI,
    imports: { createOpenApi: "lib/contract/openapi.ts" },
    make: "createOpenApi()",
  },
  {
    folder: "schemas",
    imports: {
      ...CONFIG_SCHEMAS,
      anyEventSchema: "lib/events/json-schema.ts",
      jsonSchemaOf: "lib/events/json-schema.ts",
      CONTRACT_VERSION: "lib/events/version.ts",
      DETAIL_TYPES: "lib/events/envelope.ts",
      REQUEST_TYPES: "lib/events/request-envelope.ts",
      exampleOf: "lib/events/examples.ts",
      asyncApi: "infra/reference/asyncapi.mjs",
    },
    make: `(() => {
      const documented = (types) =>
        Object.fromEntries(
          types.map((type) => [type, { schema: jsonSchemaOf(type), example: exampleOf(type) }]),
        );
      const config = {
        accounts: accountsSchema,
        reactions: reactionsSchema,
        thresholds: thresholdConfigSchema,
        watchlist: watchlistSchema,
      };
      return {
        ...Object.fromEntries(
          Object.entries(config).map(([name, schema]) => [
            name + ".schema.json",
            editorSchemaOf(schema),
          ]),
        ),
        "event.schema.json": anyEventSchema(),
        ...Object.fromEntries(
          [...REQUEST_TYPES, ...DETAIL_TYPES].map((type) => [
            "events/" + type + ".schema.json",
            jsonSchemaOf(type),
          ]),
        ),
        "asyncapi.json": asyncApi({
          version: CONTRACT_VERSION,
          requests: documented(REQUEST_TYPES),
          events: documented(DETAIL_TYPES),
        }),
      };
    })()`,
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
      commandRequestedSchema: "lib/events/requests.ts",
      taskFollowSchema: "lib/events/requests.ts",
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
        TaskFollowRequested: taskFollowSchema(),
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
    imports: { ...CONFIG_SCHEMAS, configPage: "infra/reference/config-page.mjs" },
    make: `configPage({
      accounts: editorSchemaOf(accountsSchema),
      reactions: editorSchemaOf(reactionsSchema),
      thresholds: editorSchemaOf(thresholdConfigSchema),
      watchlist: editorSchemaOf(watchlistSchema),
    })`,
  },
];

/** Evaluates an expression over exports of lib/. It bundles them first, because Node 20 cannot import TypeScript. */
const evaluate = async ({ file, folder, imports, make }) => {
  const lines = Object.entries(imports).map(
    ([name, path]) => `import { ${name} } from "./${path}";`,
  );
  // Not a data: URL, because an error in one prints the whole program.
  const bundle = resolve("dist", "generated", `${basename(file ?? folder)}.mjs`);
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

/** A file of an earlier catalogue in a generated folder. */
const left = (file) => fail(`${file} is of no schema any more; run: npm run generate`);
const remove = (file) => rmSync(join(ROOT, file));

const ACTIONS = new Map([
  ["write", { each: write, other: remove }],
  ["check", { each: check, other: left }],
]);

const action = ACTIONS.get(process.argv[2] ?? "");
if (!action) throw new Error(`usage: node infra/generated.mjs ${[...ACTIONS.keys()].join(" | ")}`);

const textOf = (made) =>
  typeof made === "string" ? made : `${JSON.stringify(made, undefined, 2)}\n`;

/** Paths of all files in a folder of the repository. */
const filesIn = (folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)));

for (const generated of GENERATED) {
  const made = await evaluate(generated);
  const { file, folder } = generated;
  const files = folder
    ? new Map(Object.entries(made).map(([path, content]) => [join(folder, path), content]))
    : new Map([[file, made]]);
  for (const [path, content] of files) await action.each(path, textOf(content));
  if (folder)
    filesIn(folder)
      .filter((path) => !files.has(path))
      .forEach(action.other);
}
