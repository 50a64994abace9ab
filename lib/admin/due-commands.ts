import { commands } from "../engine/command.ts";
import { isUnreadable } from "../ledger/record.ts";
import type { Ledger } from "../platform/ports/ledger.ts";

/** Open commands that one answer reads. */
export const MAX_COMMANDS = 1_000;
/** Entries of the due index that are read to find them: other kinds of records are due too. */
const MAX_DUE = 10_000;
/** Later than every due time. */
const FAR_FUTURE = Date.UTC(9999, 0, 1);
const PREFIX = `${commands.kind}#`;

/** Keys of commands in the due index: every command is there until its end is published. */
export const dueCommands = async (ledger: Ledger) => {
  const due = await ledger.listDue(FAR_FUTURE, MAX_DUE);
  const found = due.filter(({ key }) => key.startsWith(PREFIX));
  return {
    entries: found.map(({ key, dueAt }) => ({ key: key.slice(PREFIX.length), dueAt })),
    isCut: due.length === MAX_DUE,
  };
};

/** A record; undefined for none, and for one that only a newer version can read. */
export const readable = async <T>(read: Promise<T | undefined>): Promise<T | undefined> => {
  try {
    return await read;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
};
