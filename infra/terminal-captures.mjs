/**
 * `npm run captures` writes what a terminal of 80x24 and of 120x40 shows, into the ignored folder dist/captures:
 * NAME-80x24.txt, the whole output with its colours, and NAME-80x24.svg, the last screen.
 *
 * The runs are real, so times and ids differ from one capture to the next.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import wrapAnsi from "wrap-ansi";
import { terminalSvg } from "./terminal-svg.mjs";

const FOLDER = "dist/captures";
const SIZES = [
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
];
/** Its output shows a prompt, a table, and text of several kinds. */
const VERBS = [
  ["list", "list"],
  ["status-succeeded", "status", "demo-create-router"],
  ["status-failed", "status", "demo-unreachable-registry"],
  ["status-rejected", "status", "demo-invalid-port"],
  ["prices-list", "prices", "list"],
  ["prices-history", "prices", "history", "web-server"],
  ["prices-changes", "prices", "changes", "--since", "1h"],
  ["help", "--help"],
];
const END_OF_DEMO = "steps of the demo ended as expected";

/** Makes a program believe that its output is a terminal of this size, which a pipe is not. */
const asTerminal = (size) => {
  const fields = JSON.stringify({ isTTY: true, ...size });
  const code = `for (const s of [process.stdout, process.stderr]) Object.assign(s, ${fields});`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
};

/** Starts a verb. `output`: both streams so far, in the order of arrival. */
const start = (args, size, state) => {
  const child = spawn(process.execPath, ["dist/skyhook.mjs", ...args], {
    env: {
      ...process.env,
      ...{ FORCE_COLOR: "1", NODE_OPTIONS: asTerminal(size), XDG_STATE_HOME: state },
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const listeners = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise((resolve) => child.on("close", resolve));
  const printed = (text) =>
    new Promise((resolve, reject) => {
      listeners.push(() => output.includes(text) && resolve());
      void ended.then((status) => reject(new Error(`ended with ${status}:\n${output}`)));
    });
  return { child, ended, printed, output: () => output };
};

const write = (name, { columns, rows }, command, output) => {
  const text = `$ ${command}\n${output.trimEnd()}\n$ `;
  const file = join(FOLDER, `${name}-${columns}x${rows}`);
  const lines = wrapAnsi(text, columns, { hard: true, trim: false }).split("\n");
  const title = `${command} in a terminal of ${columns}x${rows}`;
  writeFileSync(`${file}.txt`, text);
  writeFileSync(`${file}.svg`, terminalSvg(lines.slice(-rows), { title, columns, rows }));
};

mkdirSync(FOLDER, { recursive: true });
for (const size of SIZES) {
  const state = mkdtempSync(join(tmpdir(), "skyhook-captures-"));
  const skyhook = start(["start"], size, state);
  try {
    await skyhook.printed(END_OF_DEMO);
    await skyhook.printed("Ctrl-C");
    write("demo", size, "npm start", skyhook.output());
    for (const [name, ...args] of VERBS) {
      const verb = start(args, size, state);
      await verb.ended;
      write(name, size, `npx skyhook ${args.join(" ")}`, verb.output());
    }
  } finally {
    skyhook.child.kill("SIGTERM");
    await skyhook.ended;
    rmSync(state, { recursive: true, force: true });
  }
}
process.stdout.write(`written: ${FOLDER}\n`);
