import {
  access,
  chmod,
  constants,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
} from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import type { Random } from "../platform/ports/random.ts";
import { StoredStateError } from "../service/stored-state.ts";

/** Version of the data format. A change that older or newer programs cannot read raises it. */
const FORMAT = 4;
/** Earlier format with another ledger, which a run copies when it opens the folder. */
const COPIED_FORMAT = 3;
const MARK = "skyhook.json";

/** Paths and key of a local run's persistent data. */
export interface DataDirectory {
  readonly service: string;
  readonly ledger: string;
  readonly messages: string;
  /** Key of the request fingerprints; it must never change for a ledger. */
  readonly fingerprintKey: string;
  /** Marks the folder with the current format, which earlier programs refuse. */
  raiseFormat(): Promise<void>;
}

/** The data directory cannot be used; the message says why, and what to do. */
export class DataDirectoryError extends Error {
  constructor(directory: string, why: string, cause?: unknown) {
    super(`data directory ${directory}: ${why}`, { cause });
    this.name = "DataDirectoryError";
  }
}

const markSchema = z.object({ format: z.int() });
const knownMarkSchema = z.object({
  format: z.literal([FORMAT, COPIED_FORMAT]),
  fingerprintKey: z.string(),
});

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

const isOfChmod = (error: unknown): boolean =>
  error instanceof Error && "syscall" in error && error.syscall === "chmod";

const NO_SPACE =
  "no space left on the disk; free some space and start again. Acknowledged commands are kept";
const READ_ONLY = "not writable; change its permissions, or use another folder";
const damaged = (problem: string): string =>
  `damaged: ${problem}; restore the folder from a backup, or use another folder`;
const NOT_PRIVATE = "readable by other users, and this user cannot change that; use another folder";

/** System errors that LevelDB reports as text only. */
const SYSTEM_ERRORS: readonly (readonly [words: RegExp, reason: string])[] = [
  [/No space left on device|Disk quota exceeded|File too large/, NO_SPACE],
  [/Permission denied|Operation not permitted|Read-only file system/, READ_ONLY],
];

const levelReason = (error: unknown): string => {
  const message = error instanceof Error ? error.message : "LevelDB cannot open it";
  const known = SYSTEM_ERRORS.find(([words]) => words.test(message));
  return known ? known[1] : damaged(message);
};

/** Reason of a failed step, if the owner of the folder can act on it. */
const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof StoredStateError) return damaged(error.message);
  // Errors of a port have the same codes as those of a folder.
  if (error instanceof Error && "port" in error) return undefined;
  switch (codeOf(error)) {
    case "EEXIST":
    case "ENOTDIR":
      return "not a folder";
    case "ENOENT":
      return "a link to a folder that does not exist";
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return isOfChmod(error) ? NOT_PRIVATE : READ_ONLY;
    case "EDQUOT":
    case "EFBIG":
    case "ENOSPC":
      return NO_SPACE;
    case "LEVEL_IO_ERROR":
    case "LEVEL_CORRUPTION":
      return levelReason(error);
    case "LEVEL_DATABASE_NOT_OPEN": {
      const cause = error instanceof Error ? error.cause : undefined;
      if (codeOf(cause) === "LEVEL_LOCKED")
        return "in use by another run; stop that run, or use another folder";
      return reasonOf(cause) ?? levelReason(cause);
    }
    default:
      return undefined;
  }
};

/**
 * Runs work on a data directory.
 * @throws DataDirectoryError in place of errors of the file system, LevelDB and the service
 */
export const withDataError = async <T>(
  directory: string | undefined,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    const reason = reasonOf(error);
    if (directory === undefined || reason === undefined) throw error;
    throw new DataDirectoryError(directory, reason, error);
  }
};

/** Reads the mark of an earlier run; undefined for a new folder. */
const readMark = async (directory: string): Promise<unknown> => {
  const names = (await readdir(directory)).filter((name) => name !== `${MARK}.new`);
  if (names.length === 0) return undefined;
  if (!names.includes(MARK)) {
    throw new DataDirectoryError(
      directory,
      "not empty, and without Skyhook data; use an empty folder",
    );
  }
  try {
    return JSON.parse(await readFile(join(directory, MARK), "utf8"));
  } catch {
    // Without the cause, which may quote the fingerprint key.
    throw new DataDirectoryError(directory, damaged(`${MARK} is not readable`));
  }
};

const writeMark = async (directory: string, fingerprintKey: string): Promise<void> => {
  const path = join(directory, MARK);
  // Written to another file and renamed, so that a kill leaves the whole mark or none.
  const file = await open(`${path}.new`, "w", 0o600);
  await file.writeFile(`${JSON.stringify({ format: FORMAT, fingerprintKey })}\n`);
  await file.sync();
  await file.close();
  await rename(`${path}.new`, path);
};

const knownMark = (directory: string, mark: unknown) => {
  const known = knownMarkSchema.safeParse(mark);
  if (known.success) return known.data;
  const { format = FORMAT } = markSchema.safeParse(mark).data ?? {};
  const why =
    format === FORMAT || format === COPIED_FORMAT
      ? damaged(`${MARK} is not readable`)
      : `has format ${format}, but this version of Skyhook reads only formats ${COPIED_FORMAT} and ${FORMAT}; start the version that wrote it`;
  throw new DataDirectoryError(directory, why);
};

const makeMark = async (directory: string, random: Random) => {
  const fingerprintKey = random.uuid() + random.uuid();
  await writeMark(directory, fingerprintKey);
  return { fingerprintKey };
};

/** File mode mask for a process with an open data directory: LevelDB creates its files by this mask. */
export const OWNER_ONLY = 0o077;

/** Ignores a file that another running program removed meanwhile. */
const unlessGone = (error: unknown): void => {
  if (codeOf(error) !== "ENOENT") throw error;
};

const takeFromOthers = async (directory: string, path: string, mode: number): Promise<void> => {
  await chmod(path, mode);
  // Some file systems ignore modes without an error.
  if ((await stat(path)).mode & OWNER_ONLY) throw new DataDirectoryError(directory, NOT_PRIVATE);
};

/**
 * Makes the folder and everything in it readable by its owner only, because it holds requests with their
 * secrets. Does not follow links. Does nothing on Windows, which has no such modes.
 */
const makePrivate = async (directory: string, folder = directory): Promise<void> => {
  if (process.platform === "win32") return;
  // A folder that its owner made read-only stays read-only.
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  await takeFromOthers(directory, folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makePrivate(directory, path).catch(unlessGone);
    else if (entry.isFile()) await takeFromOthers(directory, path, 0o600).catch(unlessGone);
  }
};

/**
 * Creates the folder if it is missing, and makes it private to its owner.
 * @throws DataDirectoryError when it has other files or another format, or is not writable
 */
export const openDataDirectory = (directory: string, random: Random): Promise<DataDirectory> =>
  withDataError(directory, async () => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const found = await readMark(directory);
    const known = found === undefined ? undefined : knownMark(directory, found);
    await makePrivate(directory);
    const { fingerprintKey } = known ?? (await makeMark(directory, random));
    return {
      service: join(directory, "service"),
      ledger: join(directory, "ledger"),
      messages: join(directory, "messages"),
      fingerprintKey,
      raiseFormat: () => writeMark(directory, fingerprintKey),
    };
  });
