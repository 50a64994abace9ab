import pLimit from "p-limit";
import { commands } from "../engine/command.ts";
import { tasks } from "../engine/task.ts";
import { readable } from "../ledger/record.ts";
import type { DueEntry, Ledger } from "../platform/ports/ledger.ts";

/** Open commands that one answer reads. */
export const MAX_COMMANDS = 1_000;
/** Entries of the due index that are read to find them: other kinds of records are due too. */
const MAX_DUE = 10_000;
/** Later than every due time. */
const FAR_FUTURE = Date.UTC(9999, 0, 1);
const MAX_READS_AT_ONCE = 32;

/** The entries of one kind of record, with keys without the kind. */
const entriesOf = (kind: string, due: readonly DueEntry[]): readonly DueEntry[] =>
  due
    .filter(({ key }) => key.startsWith(`${kind}#`))
    .map(({ key, dueAt }) => ({ key: key.slice(`${kind}#`.length), dueAt }));

/**
 * Returns a function that finds the keys of open commands in the due index. Every command is there until its end is
 * published: by an entry of its own, or by those of its tasks. Reads each due task once, which names its command.
 */
export const createDueCommands = (ledger: Ledger) => {
  /** Keys of commands by the keys of their tasks. */
  let commandsOf: ReadonlyMap<string, string> = new Map();
  const limit = pLimit(MAX_READS_AT_ONCE);
  const commandOf = async (key: string): Promise<string | undefined> =>
    commandsOf.get(key) ?? (await readable(tasks.read(ledger, key)))?.value.command;

  return async () => {
    const due = await ledger.listDue(FAR_FUTURE, MAX_DUE);
    const ofTasks = entriesOf(tasks.kind, due);
    const found = await limit.map(ofTasks.slice(0, MAX_COMMANDS), async ({ key, dueAt }) => ({
      ...{ task: key, dueAt },
      command: await commandOf(key),
    }));
    const known = found.flatMap(({ command, ...task }) =>
      command === undefined ? [] : [{ ...task, command }],
    );
    commandsOf = new Map(known.map(({ task, command }) => [task, command]));
    // The last entry counts: an older task may be one that the command does not follow.
    const dueAts = new Map(known.map(({ command, dueAt }) => [command, dueAt]));
    for (const { key, dueAt } of entriesOf(commands.kind, due)) dueAts.set(key, dueAt);
    return {
      entries: [...dueAts]
        .map(([key, dueAt]) => ({ key, dueAt }))
        .sort((a, b) => a.dueAt - b.dueAt),
      isCut: due.length === MAX_DUE || ofTasks.length > MAX_COMMANDS,
    };
  };
};
