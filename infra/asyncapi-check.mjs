/**
 * Checks schemas/asyncapi.json by tools of the AsyncAPI initiative: the parser validates the document, and
 * Modelina generates TypeScript of it, which has to compile. The tools have 300 packages and 200 MB, so they are installed
 * when this runs, into `.asyncapi-tools/`, and are no devDependencies.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = join(ROOT, ".asyncapi-tools");
const TOOLS = { "@asyncapi/parser": "3.6.3", "@asyncapi/modelina": "5.10.1" };

const say = (line) => process.stdout.write(`${line}\n`);

const run = (command, args, cwd) => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stdout + stderr}`);
};

const install = () => {
  const wanted = JSON.stringify({ private: true, dependencies: TOOLS });
  const stamp = join(FOLDER, "installed.json");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "package.json"), wanted);
  run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], FOLDER);
  writeFileSync(stamp, wanted);
};

/** Severities of diagnostics: 0 is an error, 1 a warning; all others are advice. */
const MAX_PROBLEM = 1;

/** @returns the document, undefined if it is invalid, and a line for each error and warning */
const parse = async ({ Parser }, text) => {
  const { document, diagnostics } = await new Parser().parse(text);
  const problems = diagnostics
    .filter(({ severity }) => severity <= MAX_PROBLEM)
    .map(({ code, message, path }) => `${path.join(".")}: ${message} (${code})`);
  return { document, problems };
};

/** The document with a message that does not exist, to see that the parser follows references. */
const withoutMessage = (text) => {
  const document = JSON.parse(text);
  delete document.components.messages.CommandFailed;
  return JSON.stringify(document);
};

const validate = async (tools, text) => {
  const { document, problems } = await parse(tools, text);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  say(`valid: AsyncAPI ${document.version()}, version ${document.info().version()}`);
  const messages = document.messages().all();
  for (const operation of document.operations().all()) {
    say(`  ${operation.action()} ${operation.id()}: ${operation.messages().length} messages`);
  }
  const broken = await parse(tools, withoutMessage(text));
  if (broken.problems.length === 0) throw new Error("the parser accepts a missing message");
  return messages.map((message) => message.name());
};

const generate = async ({ TypeScriptGenerator }, text, names) => {
  const models = await new TypeScriptGenerator({ modelType: "interface" }).generate(
    JSON.parse(text),
  );
  const made = new Set(models.map(({ modelName }) => modelName));
  const missing = names.filter((name) => !made.has(name));
  if (missing.length > 0) throw new Error(`no model of ${missing.join(", ")}`);
  const file = join(FOLDER, "models.ts");
  writeFileSync(file, `${models.map(({ result }) => `export ${result}`).join("\n\n")}\n`);
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  run(
    process.execPath,
    [tsc, "--noEmit", "--strict", "--ignoreConfig", "--types", "", file],
    FOLDER,
  );
  say(`generated: ${models.length} TypeScript models, which compile`);
};

install();
const require = createRequire(join(FOLDER, "package.json"));
const text = readFileSync(join(ROOT, "schemas", "asyncapi.json"), "utf8");
const names = await validate(require("@asyncapi/parser"), text);
await generate(require("@asyncapi/modelina"), text, names);
