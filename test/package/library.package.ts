import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { marked } from "marked";
import { describe, expect, inject, it } from "vitest";

const { folder } = inject("packed");

const PAGE = "docs/package.md";

/** The examples of the page: a block of TypeScript names its file. */
const examples = (): ReadonlyMap<string, string> =>
  new Map(
    marked.lexer(readFileSync(PAGE, "utf8")).flatMap((token) => {
      if (token.type !== "code") return [];
      const [language, file = ""] = (token.lang ?? "").split(" ");
      return language === "ts" ? [[file, token.text]] : [];
    }),
  );

const exportsOf = (): readonly string[] => {
  const { exports } = JSON.parse(
    readFileSync(join(folder, "node_modules", "skyhook", "package.json"), "utf8"),
  );
  return Object.keys(exports)
    .filter((name) => name !== "./package.json" && !name.includes("*"))
    .map((name) => name.replace(".", "skyhook"));
};

interface CompilerOptions {
  readonly module: string;
  readonly types: readonly string[];
  readonly lib?: readonly string[];
}

/** Writes a project of a consumer, with the examples of the page and one import of each export. */
const writeProject = (name: string, compilerOptions: CompilerOptions) => {
  const project = join(folder, name);
  mkdirSync(project, { recursive: true });
  for (const [file, text] of examples()) writeFileSync(join(project, file), text);
  const imports = exportsOf().map((path, index) => `import * as e${index} from "${path}";`);
  const used = imports.map((_, index) => `e${index}`);
  writeFileSync(
    join(project, "everything.ts"),
    `${imports.join("\n")}\nexport const everything = [${used.join(", ")}];\n`,
  );
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        ...{ target: "es2023", strict: true, skipLibCheck: false, outDir: "out", rootDir: "." },
        ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
        ...compilerOptions,
      },
      // The tests of the page run on Node, so only they need types of Node.
      ...(compilerOptions.types.length === 0 && { exclude: ["*.test.ts", "out"] }),
    }),
  );
  return project;
};

const compile = (project: string): string =>
  spawnSync(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "--project", project], {
    cwd: folder,
    encoding: "utf8",
  }).stdout;

const installNodeTypes = (): void => {
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--no-save", "@types/node@20"], {
    cwd: folder,
    stdio: "ignore",
  });
};

const REFUSED = `
import { createClient } from "skyhook/client";
import { type LocalSkyhook } from "skyhook/local";
const client = createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "key" });
const params = { project_id: 1, region_id: 1, container_name: "a" };
export const calls = async (skyhook: LocalSkyhook) => {
  // @ts-expect-error no such operation
  await client.call("get-nothing");
  // @ts-expect-error params are required
  await client.call("get-container");
  // @ts-expect-error a wrong type of a path parameter
  await client.call("get-container", { params: { ...params, project_id: "1" } });
  // @ts-expect-error a read takes no body
  await client.call("get-container", { params, body: {} });
  // @ts-expect-error an unknown field of the body
  await client.call("update-container", { params, body: { scales: { min: 1, max: 2 } } });
  // @ts-expect-error a wrong type of a field of the reply
  (await client.call("get-container", { params })).name satisfies number;
  // @ts-expect-error a read is no command
  await skyhook.run({ operation: "get-container", params });
  // @ts-expect-error a body is required
  await skyhook.run({ operation: "update-container", params });
  // @ts-expect-error no such event
  await skyhook.waitFor("CommandVanished");
  // @ts-expect-error a field of another event
  (await skyhook.waitFor("CommandFailed")).detail.data.outcome;
};
`;

/** Prints what an import changes in its process. */
const IMPORT_ALONE = `
// Node loads these globals lazily.
for (const name of Object.getOwnPropertyNames(globalThis)) globalThis[name];
// zod shares its registry between copies through globals of its own.
const isOurs = (name) => !name.startsWith("__zod_");
const look = () => ({
  globals: Object.getOwnPropertyNames(globalThis).filter(isOurs).flatMap((name) => [name, globalThis[name]]),
  listeners: process.eventNames().flatMap((name) => [name, process.listenerCount(name)]),
  resources: process.getActiveResourcesInfo(),
  environment: Object.entries(process.env).flat(),
});
const before = look();
await import("ENTRY");
const after = look();
const isSame = (name) =>
  before[name].length === after[name].length &&
  before[name].every((value, index) => Object.is(value, after[name][index]));
const changed = Object.keys(before).filter((name) => !isSame(name));
process.stdout.write(changed.length === 0 ? "nothing changed" : changed.join());
`;

/** Prints the results of the examples. */
const RUN_EXAMPLES = `
import { startLocal } from "skyhook/local";
import { pauseContainer } from "./client.js";
import { failsOn, isFailure } from "./patterns.js";
import { detailText } from "./sender.js";
import { handler } from "./subscriber.js";
const skyhook = await startLocal({ service: { taskDurationMs: 60_000 } });
const { url: baseUrl, apiKey } = skyhook.service;
const tasks = (await pauseContainer(baseUrl, apiKey)).length;
const locked = await pauseContainer(baseUrl, apiKey);
const params = { project_id: 1234567, region_id: 76, policy_id: 999 };
const end = await skyhook.run({ operation: "update-policy", params, body: { status: "paused" } });
const handled = await handler(end);
await skyhook.stop();
process.stdout.write(JSON.stringify({ tasks, handled, detailText, isFailure, failsOn, locked }));
`;

/** Ends by itself only if nothing is left, and prints any line of Skyhook. */
const STOPPED = `
import assert from "node:assert/strict";
import { startLocal } from "skyhook/local";
const skyhook = await startLocal();
const params = { project_id: 1234567, region_id: 76, policy_id: 1 };
const end = await skyhook.run({ operation: "update-policy", params, body: { status: "paused" } });
assert.equal(end["detail-type"], "CommandSucceeded");
const waiting = assert.rejects(skyhook.waitFor("PriceChanged"), /stopped while waiting for PriceChanged/);
await skyhook.stop();
await waiting;
const left = () =>
  process.getActiveResourcesInfo().filter((name) => /^(Timeout|TCPServerWrap|TCPSocketWrap)$/.test(name));
// Node closes a handle some turns after its last callback.
for (let turn = 0; turn < 1_000 && left().length > 0; turn += 1) await new Promise(setImmediate);
assert.deepEqual(left(), []);
`;

const NODENEXT = { module: "nodenext" };
const BUNDLER = { module: "preserve", moduleResolution: "bundler" };

describe("the types of the package", () => {
  it.each([
    ["nodenext", NODENEXT],
    ["bundler", BUNDLER],
  ])("compile strictly under %s, without types of Node", (name, options) => {
    const project = writeProject(`without-${name}`, { ...options, types: [] });
    expect(compile(project)).toBe("");
  });

  it.each([
    ["nodenext", NODENEXT],
    ["bundler", BUNDLER],
  ])("compile strictly under %s with types of Node and without the DOM", (name, options) => {
    installNodeTypes();
    const project = writeProject(`with-${name}`, { ...options, lib: ["es2023"], types: ["node"] });
    expect(compile(project)).toBe("");
  });

  it("refuse calls that break the contract", () => {
    const project = writeProject("refused", { ...NODENEXT, types: [] });
    writeFileSync(join(project, "refused.ts"), REFUSED);
    expect(compile(project)).not.toContain("refused.ts");
  });
});

describe("the code of the package", () => {
  const run = (file: string) =>
    spawnSync(process.execPath, [file], { cwd: folder, encoding: "utf8" });

  it.each(exportsOf())("%s has no side effect at import", (path) => {
    const file = join(folder, "import.mjs");
    writeFileSync(file, IMPORT_ALONE.replaceAll("ENTRY", path));
    const before = readdirSync(folder);
    const { stdout, stderr } = run(file);
    expect({ stdout, stderr }).toEqual({ stdout: "nothing changed", stderr: "" });
    expect(readdirSync(folder)).toEqual(before);
  });

  it("runs the examples of the page", () => {
    installNodeTypes();
    const project = writeProject("run", { ...NODENEXT, lib: ["es2023"], types: ["node"] });
    writeFileSync(join(project, "examples.ts"), RUN_EXAMPLES);
    expect(compile(project)).toBe("");
    const examplesRun = run(join(project, "out", "examples.js"));
    expect(examplesRun.stderr).toBe("");
    expect(JSON.parse(examplesRun.stdout)).toEqual({
      tasks: 1,
      handled: "refused",
      detailText: expect.stringContaining("order-4711"),
      isFailure: true,
      failsOn: ["detail.data.attempts"],
      locked: [],
    });
    const tests = [...examples().keys()].filter((file) => file.endsWith(".test.ts"));
    expect(tests).toEqual(["local.test.ts", "service.test.ts"]);
    for (const file of tests) {
      const tested = run(join(project, "out", file.replace(/\.ts$/, ".js")));
      // Node 20 writes TAP into a pipe, newer versions the text for people.
      expect(tested.stdout).toMatch(/^[#ℹ] pass 1$/mu);
      expect(tested.status).toBe(0);
    }
  });

  it("leaves nothing behind when a local run stops", () => {
    const file = join(folder, "stopped.mjs");
    writeFileSync(file, STOPPED);
    const { stdout, stderr, status } = run(file);
    expect({ stdout, stderr, status }).toEqual({ stdout: "", stderr: "", status: 0 });
  });
});
