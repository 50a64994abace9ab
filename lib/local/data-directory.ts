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
import { StoredStateError } from "../service/records.ts";

/** Grows when an older program could not read what a newer one keeps, or the other way round. */
const FORMAT = 4;
/** Its ledger is copied when a run opens it; nothing else of it differs. */
const COPIED_FORMAT = 3;
const MARK = "skyhook.json";

/** Where a local run keeps what outlives it. */
export interface DataDirectory {
  readonly service: string;
  readonly ledger: string;
  readonly messages: string;
  /** Key of the fingerprints; it must stay the same for as long as the ledger. */
  readonly fingerprintKey: string;
  /** Marks the folder with the present format, which earlier programs refuse. */
  raiseFormat(): Promise<void>;
}

/** A data directory that cannot be used as it is; the message says why. */
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

const NO_SPACE = "has no space left; make room and start again: what was acknowledged is kept";
const READ_ONLY = "cannot be written to";
const NOT_PRIVATE = "others may read it, and this user cannot change that";

/** What LevelDB reports of the system, in words alone. */
const SYSTEM_TROUBLE: readonly (readonly [words: RegExp, reason: string])[] = [
  [/No space left on device|Disk quota exceeded|File too large/, NO_SPACE],
  [/Permission denied|Operation not permitted|Read-only file system/, READ_ONLY],
];

const levelReason = (error: unknown): string => {
  const message = error instanceof Error ? error.message : "LevelDB cannot open it";
  const known = SYSTEM_TROUBLE.find(([words]) => words.test(message));
  return known ? known[1] : `damaged: ${message}`;
};

/** Why a step on the way into the folder failed, as far as its owner can do something about it. */
const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof StoredStateError) return `damaged: ${error.message}`;
  // The error of a port has the codes of a folder's.
  if (error instanceof Error && "port" in error) return undefined;
  switch (codeOf(error)) {
    case "EEXIST":
    case "ENOTDIR":
      return "is not a folder";
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
      if (codeOf(cause) === "LEVEL_LOCKED") return "in use by another run";
      return reasonOf(cause) ?? levelReason(cause);
    }
    default:
      return undefined;
  }
};

/**
 * Runs work on a data directory.
 * @throws DataDirectoryError instead of what the file system, LevelDB and the service say
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

/** The mark of an earlier run; undefined for a folder that is new. */
const readMark = async (directory: string): Promise<unknown> => {
  const names = (await readdir(directory)).filter((name) => name !== `${MARK}.new`);
  if (names.length === 0) return undefined;
  if (!names.includes(MARK)) {
    throw new DataDirectoryError(directory, "is not empty and holds no Skyhook data");
  }
  try {
    return JSON.parse(await readFile(join(directory, MARK), "utf8"));
  } catch {
    // Without its cause, which may quote the fingerprint key.
    throw new DataDirectoryError(directory, `damaged: ${MARK} is not readable`);
  }
};

const writeMark = async (directory: string, fingerprintKey: string): Promise<void> => {
  const path = join(directory, MARK);
  // Written beside and renamed: a kill leaves the whole mark or none.
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
      ? `damaged: ${MARK} is not readable`
      : `has format ${format}, this version of Skyhook reads formats ${COPIED_FORMAT} and ${FORMAT}`;
  throw new DataDirectoryError(directory, why);
};

const makeMark = async (directory: string, random: Random) => {
  const fingerprintKey = random.uuid() + random.uuid();
  await writeMark(directory, fingerprintKey);
  return { fingerprintKey };
};

/** File mode mask for a process that has a data directory open: LevelDB makes its files as others do. */
export const OWNER_ONLY = 0o077;

/** A file that a running program of the same data removes meanwhile needs no mode. */
const unlessGone = (error: unknown): void => {
  if (codeOf(error) !== "ENOENT") throw error;
};

const takeFromOthers = async (directory: string, path: string, mode: number): Promise<void> => {
  await chmod(path, mode);
  // Some file systems keep no modes, and say nothing.
  if ((await stat(path)).mode & OWNER_ONLY) throw new DataDirectoryError(directory, NOT_PRIVATE);
};

/**
 * Makes the folder and everything in it readable by its owner only; requests wait here with their
 * secrets. Links are not followed. Windows has no such modes.
 */
const makePrivate = async (directory: string, folder = directory): Promise<void> => {
  if (process.platform === "win32") return;
  // A folder that its owner has made read-only stays so.
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  await takeFromOthers(directory, folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makePrivate(directory, path).catch(unlessGone);
    else if (entry.isFile()) await takeFromOthers(directory, path, 0o600).catch(unlessGone);
  }
};

/**
 * Makes the folder when it is missing, and its owner's alone.
 * @throws DataDirectoryError when it is not ours, of another version, or cannot be written to
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
