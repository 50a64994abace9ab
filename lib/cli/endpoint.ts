import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { Environment } from "./environment.ts";
import { EXIT, ExitError } from "./exit-code.ts";
import { requirePrivate, stateFolder, writePrivate } from "./private-file.ts";

/** The folder of `folderOf`, for docs/reference/cli.md. */
export const RUNS_FOLDER = "$XDG_STATE_HOME/skyhook/runs";

/** The address of a running Skyhook, with the token that every request needs. */
export interface RunAddress {
  readonly endpoint: string;
  /** Undefined for an address that is not of a known run, without `SKYHOOK_TOKEN`. */
  readonly token: string | undefined;
}

const runSchema = z.object({
  endpoint: z.url(),
  token: z.string(),
  pid: z.int().positive(),
  /** Epoch ms. */
  startedAt: z.int(),
});

type KnownRun = z.output<typeof runSchema>;

/** The user's folder for runs. */
const folderOf = (environment: Environment): string => stateFolder(environment, "runs");

const readRun = (file: string): KnownRun | undefined => {
  try {
    return runSchema.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
  } catch {
    return undefined;
  }
};

/**
 * Every run with a file, the newest first; runs that were killed too.
 * @throws ExitError when other users can write to the folder
 */
const knownRuns = (environment: Environment): readonly KnownRun[] => {
  const folder = folderOf(environment);
  if (!existsSync(folder)) return [];
  requirePrivate(folder);
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => readRun(join(folder, name)) ?? [])
    .sort((one, other) => other.startedAt - one.startedAt);
};

/**
 * Keeps address and token of this run, so that other commands of the same user find it without an option. A later
 * run at the same port replaces the file.
 * @returns a function that removes the file, unless a later run has replaced it
 * @throws Error when the file cannot be written, or the folder belongs to another user
 */
export const keepRun = (
  run: { readonly url: string; readonly token: string; readonly startedAt: number },
  environment: Environment,
): (() => void) => {
  const { url: endpoint, token, startedAt } = run;
  const known: KnownRun = { endpoint, token, pid: process.pid, startedAt };
  const name = `${new URL(endpoint).port}.json`;
  const file = writePrivate(folderOf(environment), name, `${JSON.stringify(known)}\n`);
  return () => {
    if (readRun(file)?.token === token) rmSync(file, { force: true });
  };
};

/** Whether the process runs and belongs to this user. */
const isOurs = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/**
 * The newest running one of this user's runs. A run that has ended is an error: another user's program may listen at
 * its address by now.
 * @throws ExitError when no run is known, or every one has ended
 */
export const lastRun = (environment: Environment): RunAddress => {
  const runs = knownRuns(environment);
  const running = runs.find(({ pid }) => isOurs(pid));
  if (running) return running;
  const [ended] = runs;
  throw new ExitError(
    EXIT.unreachable,
    ended
      ? `the last run, at ${ended.endpoint}, has ended; run \`npx skyhook start\` again, or set --endpoint`
      : "no running Skyhook is known; run `npx skyhook start`, or set --endpoint or SKYHOOK_ENDPOINT",
  );
};

/** The token of the user's own run at an address; only a process of this user may get it. */
const tokenAt = (endpoint: string, environment: Environment): string | undefined =>
  knownRuns(environment).find(
    (run) => isOurs(run.pid) && new URL(run.endpoint).origin === new URL(endpoint).origin,
  )?.token;

/**
 * The address as a URL, and its token: `SKYHOOK_TOKEN`, or that of the user's own run there. `127.0.0.1:4747` means
 * `http://127.0.0.1:4747`.
 * @param endpoint absent or empty: the newest run of this user
 * @throws ExitError for an invalid address, or when there is no run
 */
export const runAddress = (
  endpoint: string | undefined,
  environment: Environment = process.env,
): RunAddress => {
  const { SKYHOOK_TOKEN: given } = environment;
  if (!endpoint) return { ...lastRun(environment), ...(given && { token: given }) };
  const url = /^[\w.-]+:\d{1,5}$/.test(endpoint) ? `http://${endpoint}` : endpoint;
  if (/^https?:\/\//.test(url) && URL.canParse(url)) {
    return { endpoint: url, token: given || tokenAt(url, environment) };
  }
  throw new ExitError(
    EXIT.refused,
    "--endpoint or SKYHOOK_ENDPOINT: not an http address; use the one that `skyhook start` prints, such as http://127.0.0.1:4747",
  );
};
