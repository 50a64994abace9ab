import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { startSkyhook } from "../support/skyhook-process.ts";

/** A running `skyhook start`, with its console. */
export interface ConsoleRun {
  /** Address of the page, with its token. */
  readonly pageUrl: string;
  readonly port: number;
  /** Reads a route of the gateway. */
  get(path: string): Promise<unknown>;
  /** Sends JSON to a route of the gateway. @throws Error for a refusal, with the answer */
  post(path: string, body: unknown): Promise<unknown>;
  /** Resolves when the run has printed the text. */
  printed(text: string): Promise<void>;
  /** Stops the run, as Ctrl-C does, and waits for its end. */
  stop(): Promise<void>;
}

/** A temporary folder, removed when the test ends. */
export const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-browser-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** Opens the printed address as a browser does; every other request needs its token. */
const PAGE = /http:\/\/127\.0\.0\.1:(\d+)\/\?token=([\w-]+)/;

/**
 * Starts the built program and waits until it listens.
 * @param args of `skyhook start`; default port: a free one
 * @param state folder for its state file
 */
export const openRun = async (args: readonly string[], state: string): Promise<ConsoleRun> => {
  const port = args.includes("--port") ? [] : ["--port", "0"];
  const program = startSkyhook(["start", ...port, ...args], { XDG_STATE_HOME: state });
  await program.printed("?token=");
  const output = program.stdout() + program.stderr();
  const [pageUrl = "", portText = "", token = ""] = PAGE.exec(output) ?? [];
  const ask = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(new URL(path, pageUrl), { ...init, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  return {
    pageUrl,
    port: Number(portText),
    get: (path) => ask(path),
    post: (path, body) => ask(path, { method: "POST", body: JSON.stringify(body) }),
    printed: program.printed,
    async stop() {
      program.child.kill("SIGTERM");
      await program.ended();
    },
  };
};

/** `openRun` for one test: the run stops when the test ends. */
export const startRun = async (args: readonly string[]): Promise<ConsoleRun> => {
  const run = await openRun(args, await temporaryFolder());
  onTestFinished(run.stop);
  return run;
};
