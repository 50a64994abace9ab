import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./environment.ts";
import { EXIT, ExitError } from "./exit-code.ts";

const OWNER_ONLY = 0o700;
/** Permission bits by which other users write. */
const WRITABLE_BY_OTHERS = 0o022;

/** A folder of this user's Skyhook in the folder for state of the XDG base directory specification. */
export const stateFolder = ({ XDG_STATE_HOME: state }: Environment, name: string): string =>
  join(state || join(homedir(), ".local", "state"), "skyhook", name);

const isOwn = (path: string): boolean => {
  const { uid } = statSync(path);
  return uid === (process.getuid?.() ?? uid);
};

/** A folder in which another user could name an address of theirs, which would get this user's commands. */
const unsafeFolder = (folder: string): ExitError =>
  new ExitError(
    EXIT.refused,
    `${folder}: other users can write to it; remove it, or set XDG_STATE_HOME to a folder of your own`,
  );

/** @throws ExitError when other users can write to the folder */
export const requirePrivate = (folder: string): void => {
  if (!isOwn(folder) || statSync(folder).mode & WRITABLE_BY_OTHERS) throw unsafeFolder(folder);
};

/**
 * Writes a file that only this user can read, into a folder that is created if it is missing.
 * @returns the path of the file
 * @throws Error when the file cannot be written, or the folder belongs to another user
 */
export const writePrivate = (folder: string, name: string, text: string): string => {
  const file = join(folder, name);
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY });
  if (!isOwn(folder)) throw unsafeFolder(folder);
  // A folder from before may have another mode.
  chmodSync(folder, OWNER_ONLY);
  // A new file gets the mode, no link is followed, and the rename lets readers see only whole files.
  const written = `${file}.${process.pid}`;
  rmSync(written, { force: true });
  writeFileSync(written, text, { mode: 0o600, flag: "wx" });
  renameSync(written, file);
  return file;
};
