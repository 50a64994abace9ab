/**
 * `npm run picture` writes docs/images/demo.svg: the terminal output of `npm start` until the end of the demo.
 *
 * The run is real, so times and ids differ from one picture to the next.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import wrapAnsi from "wrap-ansi";
import { terminalSvg } from "./terminal-svg.mjs";

const COLUMNS = 126;
const ESCAPE = "\u001b[";

/** Terminal output of one demo: both streams in the order of arrival. */
const demoOutput = async () => {
  const state = mkdtempSync(join(tmpdir(), "skyhook-picture-"));
  const program = spawn(process.execPath, ["dist/skyhook.mjs", "start", "--exit"], {
    env: { ...process.env, FORCE_COLOR: "1", XDG_STATE_HOME: state },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = `${ESCAPE}1m$ npm ci && npm start${ESCAPE}22m\n\n`;
  for (const stream of [program.stdout, program.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  const status = await new Promise((resolve) => program.on("close", resolve));
  rmSync(state, { recursive: true, force: true });
  if (status !== 0) throw new Error(`the demo ended with status ${status}:\n${output}`);
  return output.trimEnd();
};

const lines = wrapAnsi(await demoOutput(), COLUMNS, { hard: true, trim: false }).split("\n");
const title = "Terminal output of npm start";
writeFileSync("docs/images/demo.svg", terminalSvg(lines, { title, columns: COLUMNS }));
