import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as z from "zod";
import { jsonHeaders } from "./local-console.ts";

const PROGRAM = new URL("../../dist/skyhook.mjs", import.meta.url).pathname;
/** Makes a run end by an error when it publishes an event that its JSON Schema refuses. */
const CHECK = ["--import", new URL("check-local-buses.mjs", import.meta.url).href];

const eventSchema = z.object({
  source: z.string(),
  "detail-type": z.string(),
  detail: z.object({
    metadata: z.looseObject({
      id: z.string(),
      causationId: z.string(),
      commandId: z.string().optional(),
      sender: z.string().optional(),
    }),
    data: z.looseObject({ operation: z.string().optional() }),
  }),
});

export type PublishedEvent = z.output<typeof eventSchema>;

export interface SkyhookProcess {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves when stdout or stderr contains the text. Rejects if the program ends before. */
  printed(text: string): Promise<void>;
  /** Resolves with the exit status or the signal that ended the program. */
  ended(): Promise<number | NodeJS.Signals | null>;
}

/**
 * Starts the built program, like its `bin`.
 * @param launcher a command that runs the command in its arguments
 */
export const startSkyhook = (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = "",
  launcher: readonly string[] = [],
): SkyhookProcess => {
  const { PATH = "", XDG_STATE_HOME = "" } = process.env;
  const program = [...(args[0] === "start" ? CHECK : []), PROGRAM, ...args];
  const [file = process.execPath, ...rest] = [...launcher, process.execPath, ...program];
  const child = spawn(file, rest, {
    env: { PATH, XDG_STATE_HOME, NO_COLOR: "1", ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end(input);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const exit = once(child, "close").then(([code, signal]) => code ?? signal);
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const look = () => (stdout + stderr).includes(text) && resolve();
        child.stdout.on("data", look);
        child.stderr.on("data", look);
        look();
        void exit.then((code) =>
          reject(new Error(`ended with ${code} before "${text}": ${stderr}`)),
        );
      }),
    ended: () => exit,
  };
};

/** The address that a run printed, with the headers of a JSON request to it. */
export const consoleOf = (program: SkyhookProcess) => {
  const page = new URL(/Console: (\S+)/.exec(program.stderr())?.[1] ?? "http://none");
  return { url: page.origin, headers: jsonHeaders(page.searchParams.get("token") ?? "") };
};

/** Runs the program to its end. */
export const runSkyhook = async (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = "",
  launcher: readonly string[] = [],
) => {
  const program = startSkyhook(args, environment, input, launcher);
  const exitCode = await program.ended();
  return { exitCode, stdout: program.stdout(), stderr: program.stderr() };
};

/** The events of `--json`, one per line of stdout. A killed program may cut off the last line. */
export const eventsIn = (stdout: string, isCut = false): readonly PublishedEvent[] => {
  const lines = stdout.split("\n");
  const whole = isCut ? lines.slice(0, -1) : lines.filter((line) => line !== "");
  return whole.map((line) => eventSchema.parse(JSON.parse(line)));
};

/** Events without repetitions, in the order of first publication. */
export const distinct = (events: readonly PublishedEvent[]): readonly PublishedEvent[] =>
  events.filter(
    ({ detail }, index) =>
      events.findIndex((other) => other.detail.metadata.id === detail.metadata.id) === index,
  );
