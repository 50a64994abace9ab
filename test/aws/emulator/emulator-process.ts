import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Emulator } from "./emulator.ts";

const START_LIMIT_MS = 90_000;
const STOP_LIMIT_MS = 10_000;

const freePort = async (): Promise<number> => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || !address) throw new Error("no free port on 127.0.0.1");
  return address.port;
};

/** File with the output of the emulator. git and the checks ignore it. */
const LOG_FILE = "emulator.log";

const LOG_TAIL = 4_000;

const ended = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

const stop = async (child: ChildProcess): Promise<void> => {
  if (ended(child)) return;
  child.kill("SIGTERM");
  await Promise.race([once(child, "exit"), sleep(STOP_LIMIT_MS)]);
  if (!ended(child)) child.kill("SIGKILL");
};

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
};

/** The command of an emulator that listens on a given port of 127.0.0.1. */
export interface EmulatorProgram {
  /** Name and version, for the output. */
  readonly what: string;
  /** Path that answers with 200 when the emulator is ready. */
  readonly healthPath: string;
  readonly launch: (port: number) => {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: NodeJS.ProcessEnv;
  };
}

/**
 * Starts an emulator and waits until it answers.
 * @throws Error with its output if it does not answer in time
 */
export const startProcess = async ({
  what,
  healthPath,
  launch,
}: EmulatorProgram): Promise<Emulator> => {
  const port = await freePort();
  const { command, args, env } = launch(port);
  const log = openSync(LOG_FILE, "w");
  const child = spawn(command, args, { env, stdio: ["ignore", log, log] });
  closeSync(log);
  let failure = "";
  child.once("error", (error) => {
    failure = error.message;
  });
  // Ends the emulator with this process. A terminated process runs no exit handlers by itself.
  const kill = () => child.kill("SIGKILL");
  const exit = () => process.exit(1);
  process.once("exit", kill);
  process.once("SIGTERM", exit);
  const endpoint = `http://127.0.0.1:${port}`;
  const endsAt = performance.now() + START_LIMIT_MS;
  while (!(await answers(`${endpoint}${healthPath}`))) {
    if (failure !== "" || ended(child) || performance.now() > endsAt) {
      await stop(child);
      const written = readFileSync(LOG_FILE, "utf8");
      throw new Error(`${what} does not answer: ${failure}\n${written.slice(-LOG_TAIL)}`);
    }
    await sleep(100);
  }
  return {
    endpoint,
    what: `${what}, output in ${LOG_FILE}`,
    async stop() {
      await stop(child);
      process.off("exit", kill);
      process.off("SIGTERM", exit);
    },
  };
};
