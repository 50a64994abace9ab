import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/*
 * Compares calls of the built command line with an empty Node script. `list` and `send` reach a local run, of which
 * only its own process is not counted.
 */

const ROUNDS = 21;
const PROGRAM = join(process.cwd(), "dist", "skyhook.mjs");
/** User and system seconds of a process, and seconds from its start to its end. */
const TIMED = `TIMEFORMAT='%U %S %R'; time "$@" > /dev/null`;

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "skyhook-bench-"));
const environment = { ...process.env, XDG_STATE_HOME: folder };

interface Times {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** @throws Error when the program fails */
const timesOf = async (args: readonly string[]): Promise<Times> => {
  const command = ["-c", TIMED, "bash", process.execPath, ...args];
  const { stderr } = await run("bash", command, { env: environment });
  const [user = 0, system = 0, wall = 0] = (stderr.trim().split("\n").at(-1) ?? "")
    .split(" ")
    .map(Number);
  return { cpuMs: (user + system) * 1000, wallMs: wall * 1000 };
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

const RESOURCE = ["--project-id", "1", "--region-id", "2", "--instance-id", "of-the-benchmark"];
const CALLS: ReadonlyMap<string, readonly string[]> = new Map([
  ["an empty script", ["-e", ""]],
  ["skyhook --help", [PROGRAM, "--help"]],
  ["skyhook list", [PROGRAM, "list"]],
  ["skyhook send --no-wait", [PROGRAM, "send", "resume-instance", ...RESOURCE, "--no-wait"]],
  ["skyhook send", [PROGRAM, "send", "resume-instance", ...RESOURCE]],
]);

const skyhook = spawn(process.execPath, [PROGRAM, "start", "--port", "0"], {
  env: environment,
  stdio: ["ignore", "ignore", "pipe"],
});
try {
  // The program ends when its stderr is closed, so it is read to the end.
  let printed = "";
  await new Promise<void>((resolve) => {
    skyhook.stderr.on("data", (chunk) => {
      printed += chunk;
      if (printed.includes("the demo edits")) resolve();
    });
  });
  process.stdout.write(
    `a call beside an empty script, median of ${ROUNDS} pairs, Node ${process.version}:\n`,
  );
  for (const [name, args] of CALLS) {
    const ratios = { cpu: [] as number[], wall: [] as number[] };
    const cpuMs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const empty = await timesOf(["-e", ""]);
      const call = await timesOf(args);
      ratios.cpu.push(call.cpuMs / empty.cpuMs);
      ratios.wall.push(call.wallMs / empty.wallMs);
      cpuMs.push(call.cpuMs);
    }
    const figures = [
      `${median(cpuMs).toFixed(0)} ms`,
      `CPU ${median(ratios.cpu).toFixed(2)}`,
      `wall ${median(ratios.wall).toFixed(2)}`,
    ];
    process.stdout.write(
      `  ${name.padEnd(24)}${figures.map((each) => each.padStart(12)).join("")}\n`,
    );
  }
} finally {
  const ended = once(skyhook, "exit");
  if (skyhook.kill()) await ended;
  rmSync(folder, { recursive: true, force: true });
}
