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
  if (typeof address !== "object" || !address) throw new Error("no port");
  return address.port;
};

/**
 * What it is set to. It listens on 127.0.0.1 only, and names itself so: "localhost" may be another
 * address for the functions that it runs. With AUTH it evaluates IAM policies as AWS does, for the
 * functions' roles too.
 */
const settingsOf = (port: number) => ({
  BIND_HOST: "127.0.0.1",
  MINISTACK_HOST: "127.0.0.1",
  GATEWAY_PORT: String(port),
  AUTH: "true",
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
  // The SDK's advice to upgrade Node would stand in the output of each function.
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
});

/** Where what it writes is to be found; git and the checks leave such files aside. */
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

const answers = async (endpoint: string): Promise<boolean> => {
  try {
    return (await fetch(`${endpoint}/_ministack/health`)).ok;
  } catch {
    return false;
  }
};

/**
 * Starts MiniStack and waits until it answers.
 * @param launch the command that runs it with those settings
 * @throws Error with its output when it does not answer in time
 */
export const startMinistack = async (
  what: string,
  launch: (settings: Readonly<Record<string, string>>) => {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: NodeJS.ProcessEnv;
  },
): Promise<Emulator> => {
  const port = await freePort();
  const { command, args, env } = launch(settingsOf(port));
  const log = openSync(LOG_FILE, "w");
  const child = spawn(command, args, { env, stdio: ["ignore", log, log] });
  closeSync(log);
  let failure = "";
  child.once("error", (error) => {
    failure = error.message;
  });
  // Whatever ends this process ends it too; what is terminated says no goodbye by itself.
  const kill = () => child.kill("SIGKILL");
  const exit = () => process.exit(1);
  process.once("exit", kill);
  process.once("SIGTERM", exit);
  const endpoint = `http://127.0.0.1:${port}`;
  const endsAt = performance.now() + START_LIMIT_MS;
  while (!(await answers(endpoint))) {
    if (failure !== "" || ended(child) || performance.now() > endsAt) {
      await stop(child);
      const written = readFileSync(LOG_FILE, "utf8");
      throw new Error(`${what} does not answer: ${failure}\n${written.slice(-LOG_TAIL)}`);
    }
    await sleep(100);
  }
  return {
    endpoint,
    what: `${what}, which writes to ${LOG_FILE}`,
    async stop() {
      await stop(child);
      process.off("exit", kill);
      process.off("SIGTERM", exit);
    },
  };
};
