import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import * as z from "zod";
import { EXIT, ExitError } from "./exit-code.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const lastRunSchema = z.object({ endpoint: z.url(), pid: z.int().positive() });

/** One file for each user, where the XDG base directory specification puts state. */
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
 * Keeps the address of this run, so that other commands of the same user find it without a flag.
 * @returns what removes the address again, unless a later run has replaced it
 * @throws Error of the file system when the file cannot be written
 */
export const keepRun = (endpoint: string, environment: Environment): (() => void) => {
  const file = fileOf(environment);
  const own = { endpoint, pid: process.pid };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Written beside and renamed: a reader sees a whole file, and a new file has the mode asked for.
  const written = `${file}.${process.pid}`;
  rmSync(written, { force: true });
  writeFileSync(written, `${JSON.stringify(own)}\n`, { mode: 0o600 });
  renameSync(written, file);
  return () => {
    const found = readRun(file);
    if (found?.pid === own.pid && found.endpoint === own.endpoint) rmSync(file, { force: true });
  };
};

/** Whether the process runs, as a process of this user. */
const isOurs = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/**
 * The address of the last run of this user. Nothing is sent to the address of a run that is gone: by
 * now another user's program may listen there.
 * @throws ExitError when there was no run, or it has ended
 */
export const lastRunEndpoint = (environment: Environment): string => {
  const run = readRun(fileOf(environment));
  if (run && isOurs(run.pid)) return run.endpoint;
  throw new ExitError(
    EXIT.unreachable,
    run
      ? `the last run, at ${run.endpoint}, has ended; run \`npx skyhook start\` again, or give an address by --endpoint`
      : "no running Skyhook is known; run `npx skyhook start`, or give an address by --endpoint or SKYHOOK_ENDPOINT",
  );
};

/**
 * The address as a URL; `127.0.0.1:4747` stands for `http://127.0.0.1:4747`.
 * @param endpoint absent or empty: the last run of this user
 * @throws ExitError when it is no address, or there is no run
 */
export const checkedEndpoint = (
  endpoint: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string => {
  if (!endpoint) return lastRunEndpoint(environment);
  const url = /^[\w.-]+:\d{1,5}$/.test(endpoint) ? `http://${endpoint}` : endpoint;
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new ExitError(
    EXIT.refused,
    "--endpoint or SKYHOOK_ENDPOINT: give the address that `skyhook start` prints, such as http://127.0.0.1:4747",
  );
};
