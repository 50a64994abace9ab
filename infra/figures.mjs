/**
 * `npm run figures` prints the size of the sources, the number of imports between the folders of lib, and the number
 * of files and functions that one command runs through. It has no limits and never fails on a number.
 *
 * The path of a command is measured in the real program: its bundle has a probe at the start of each function, a
 * local run executes one command with a task, and the probes are read at the command's end. The service runs as
 * another process. Files that replace AWS or the operating system, and those of the command line, do not count.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize, relative } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseSync } from "@swc/core";
import { build } from "esbuild";
import { BASE } from "./bundling.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const NOT_COUNTED = /^lib\/(local|cli|service|admin|intake\/event-patterns|platform\/system\.)/;
const COMMAND = [
  ...["send", "update-container", "--project-id", "1234567", "--region-id", "76"],
  ...["--container-name", "my-container", "--is-disabled", "false"],
];

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** The folder of a file: `lib/engine` for all files below it, `functions` for all functions. */
const folderOf = (file) =>
  (/^lib\/[^/]+(?=\/)/.exec(file) ?? [file.slice(0, file.indexOf("/"))])[0];

const sourceFiles = () =>
  execFileSync("git", ["ls-files", "functions", "lib", "infra"], { cwd: ROOT, encoding: "utf8" })
    .split("\n")
    .filter((file) => /\.(ts|mjs|cjs)$/.test(file))
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), "utf8") }));

const measureSizes = (sources) => {
  const sizes = sources.map(({ file, text }) => ({ file, lines: text.split("\n").length - 1 }));
  const largest = sizes.reduce((a, b) => (b.lines > a.lines ? b : a));
  return {
    "source files (functions, lib, infra)": sizes.length,
    "lines of source": sizes.reduce((sum, { lines }) => sum + lines, 0),
    "median lines of a file": median(sizes.map(({ lines }) => lines)),
    "largest file": `${largest.lines} (${largest.file})`,
    "files under 50 lines": sizes.filter(({ lines }) => lines < 50).length,
  };
};

const measureFolders = (sources) => {
  const arrows = new Set();
  for (const { file, text } of sources) {
    if (!file.startsWith("lib/")) continue;
    for (const [, specifier] of text.matchAll(/(?:from|import\() ?"(\.{1,2}\/[^"]+)"/g)) {
      const target = folderOf(normalize(join(dirname(file), specifier)));
      if (target.startsWith("lib/") && target !== folderOf(file)) {
        arrows.add(`${folderOf(file)} → ${target}`);
      }
    }
  }
  const folders = new Set(sources.map(({ file }) => folderOf(file)).filter((it) => it !== "lib"));
  return {
    "folders of lib": [...folders].filter((folder) => folder.startsWith("lib/")).length,
    "import arrows between folders of lib": [...arrows].filter((it) => !it.startsWith("lib →"))
      .length,
  };
};

/** Calls `visit` with the body and the name of each function in a syntax tree. */
const visitFunctions = (node, visit, name = "") => {
  if (node === null || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const item of node) visitFunctions(item, visit);
    return;
  }
  const own = node.identifier?.value ?? node.key?.value ?? node.id?.value ?? name;
  // The node of a method contains its function; other nodes are functions themselves.
  const { body } = node.type === "ClassMethod" ? node.function : node;
  if (/Function|Method/.test(node.type ?? "") && body?.span) visit(body, own);
  for (const child of Object.values(node)) visitFunctions(child, visit, own);
};

/** The source with a call of the probe at the start of each function. */
const withProbes = (file, source) => {
  // A first statement at a known position: swc continues to count bytes from one file to the next.
  const text = `0;${source}`;
  const tree = parseSync(text, { syntax: "typescript", target: "es2022" });
  const [{ span: first }] = tree.body;
  const bytes = Buffer.from(text);
  const inserts = [];
  visitFunctions(tree.body, (body, name) => {
    const start = body.span.start - first.start;
    const end = body.span.end - first.start;
    const call = `globalThis.skyhookProbe("${file}","${name}:${start}")`;
    if (bytes[start] === "{".charCodeAt(0)) inserts.push([start + 1, `${call};`]);
    else inserts.push([start, `(${call},`], [end, ")"]);
  });
  let probed = "";
  let from = 0;
  for (const [at, insert] of inserts.sort(([a], [b]) => a - b)) {
    probed += bytes.subarray(from, at).toString() + insert;
    from = at;
  }
  return probed + bytes.subarray(from).toString();
};

/** Records every call from the first signal on, and prints the records at the second one. */
const PROBE = `let calls;
globalThis.skyhookProbe = (file, name) => calls?.push([file, name]);
process.on("SIGUSR2", () => {
  if (calls) process.stderr.write("\\ncalls " + JSON.stringify(calls) + "\\n");
  calls = [];
});`;

const buildProbed = (outdir) =>
  build({
    ...BASE,
    entryPoints: { skyhook: "lib/cli/main.ts" },
    outdir,
    outExtension: { ".js": ".mjs" },
    packages: "external",
    sourcemap: false,
    banner: { js: PROBE },
    plugins: [
      {
        name: "probes",
        setup: ({ onLoad }) =>
          onLoad({ filter: /\/(lib|functions)\/.*\.ts$/ }, ({ path }) => ({
            contents: withProbes(relative(ROOT, path), readFileSync(path, "utf8")),
            loader: "ts",
          })),
      },
    ],
  });

/** Resolves with the first line that matches. Rejects if the stream ends without one. */
const lineOf = (stream, pattern) =>
  new Promise((resolve, reject) => {
    const lines = createInterface({ input: stream });
    lines.on("line", (line) => pattern.test(line) && resolve(line));
    lines.on("close", () =>
      reject(new Error(`the process ended before it printed a line that matches ${pattern}`)),
    );
  });

/** The calls of a local run during one command, from its request to its end. */
const traceCommand = async () => {
  const folder = mkdtempSync(join(tmpdir(), "skyhook-figures-"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await buildProbed(folder);
  const env = {
    ...process.env,
    XDG_STATE_HOME: folder,
    NO_COLOR: "1",
    SKYHOOK_API_KEY: "1$figures",
  };
  const argsOf = (args) => [join(folder, "skyhook.mjs"), ...args];
  const processes = [];
  const start = (...args) => {
    const child = spawn(process.execPath, argsOf(args), { env });
    processes.push({ child, ended: once(child, "close") });
    return child;
  };
  try {
    const service = start("service", "--port", "0", "--api-key", env.SKYHOOK_API_KEY);
    const url = await lineOf(service.stdout, /^http/);
    const run = start("start", "--base-url", url, "--json");
    await lineOf(run.stderr, /http/);
    run.kill("SIGUSR2");
    const succeeded = lineOf(run.stdout, /"CommandSucceeded"/);
    execFileSync(process.execPath, argsOf(COMMAND), { env, stdio: "ignore" });
    await succeeded;
    const notes = lineOf(run.stderr, /^calls /);
    run.kill("SIGUSR2");
    return JSON.parse((await notes).slice("calls ".length));
  } finally {
    for (const { child, ended } of processes) {
      child.kill("SIGTERM");
      await ended;
    }
    rmSync(folder, { recursive: true });
  }
};

const measureCommand = async () => {
  const calls = await traceCommand();
  const count = (name) =>
    calls.filter(([file, it]) => /^lib\/local\/level-ledger/.test(file) && it.startsWith(name))
      .length;
  const counted = calls.filter(([file]) => !NOT_COUNTED.test(file));
  const folders = counted.map(([file]) => folderOf(file));
  return {
    "a command with a task: files": new Set(counted.map(([file]) => file)).size,
    "a command with a task: functions": new Set(counted.map((call) => call.join(" "))).size,
    "a command with a task: changes of folder": folders.filter(
      (folder, index) => index > 0 && folder !== folders[index - 1],
    ).length,
    "a command with a task: ledger reads": count("read:"),
    "a command with a task: ledger writes": count("write:"),
  };
};

const sources = sourceFiles();
const figures = {
  ...measureSizes(sources),
  ...measureFolders(sources),
  ...(await measureCommand()),
};
for (const [name, value] of Object.entries(figures)) process.stdout.write(`${name}: ${value}\n`);
process.exit(0);
