import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import * as z from "zod";
import type { Environment } from "./environment.ts";
import { EXIT, ExitError } from "./exit-code.ts";

/** The file of `fileOf`, for docs/reference/cli.md. */
export const LAST_RUN_FILE = "$XDG_STATE_HOME/skyhook/last-run.json";

const lastRunSchema = z.object({ endpoint: z.url(), pid: z.int().positive() });

/** The user's file for the last run, in the folder for state of the XDG base directory specification. */
const fileOf = ({ XDG_STATE_HOME: state }: Environment): string =>
  join(state || join(homedir(), ".local", "state"), "skyhook", "last-run.json");

const readRun = (file: string) => {
  try {
    return lastRunSchema.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
  } catch {
    return undefined;
  }
};

/**
 * Keeps the address of this run, so that other commands of the same user find it without an option.
 * @returns a function that removes the address, unless a later run has replaced it
 * @throws Error of the file system when the file cannot be written
 */
export const keepRun = (endpoint: string, environment: Environment): (() => void) => {
  const file = fileOf(environment);
  const own = { endpoint, pid: process.pid };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A new file gets the mode, and the rename lets readers see only whole files.
  const written = `${file}.${process.pid}`;
  rmSync(written, { force: true });
  writeFileSync(written, `${JSON.stringify(own)}\n`, { mode: 0o600 });
  renameSync(written, file);
  return () => {
    const found = readRun(file);
    if (found?.pid === own.pid && found.endpoint === own.endpoint) rmSync(file, { force: true });
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
 * The address of the last run of this user. A run that has ended is an error: another user's program may
 * listen at its address by now.
 * @throws ExitError when there was no run, or it has ended
 */
export const lastRunEndpoint = (environment: Environment): string => {
  const run = readRun(fileOf(environment));
  if (run && isOurs(run.pid)) return run.endpoint;
  throw new ExitError(
    EXIT.unreachable,
    run
      ? `the last run, at ${run.endpoint}, has ended; run \`npx skyhook start\` again, or set --endpoint`
      : "no running Skyhook is known; run `npx skyhook start`, or set --endpoint or SKYHOOK_ENDPOINT",
  );
};

/**
 * The address as a URL; `127.0.0.1:4747` means `http://127.0.0.1:4747`.
 * @param endpoint absent or empty: the last run of this user
 * @throws ExitError for an invalid address, or when there is no run
 */
export const checkedEndpoint = (
  endpoint: string | undefined,
  environment: Environment = process.env,
): string => {
  if (!endpoint) return lastRunEndpoint(environment);
  const url = /^[\w.-]+:\d{1,5}$/.test(endpoint) ? `http://${endpoint}` : endpoint;
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new ExitError(
    EXIT.refused,
    "--endpoint or SKYHOOK_ENDPOINT: not an http address; use the one that `skyhook start` prints, such as http://127.0.0.1:4747",
  );
};
