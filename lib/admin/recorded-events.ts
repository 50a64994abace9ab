import pLimit from "p-limit";
import { type Command, commands, isEnded, splitCommandKey } from "../engine/command.ts";
import { readRejections } from "../engine/rejection.ts";
import { isoText } from "../events/event.ts";
import { behindInstant, dayOf, partitionsOf } from "../ledger/listing.ts";
import { readable } from "../ledger/record.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger, ListEntry } from "../platform/ports/ledger.ts";
import { readTasksOf, tasksOf } from "./command-tasks.ts";
import { type DerivedEvent, eventsOf, rejectionEvents } from "./derived-events.ts";
import { createDueCommands, MAX_COMMANDS } from "./due-commands.ts";

const EVERY_MS = 5_000;
/** What came earlier is left out after a longer time without a poll. */
const LONGEST_GAP_MS = 24 * 60 * 60_000;
/**
 * A new command may appear in the list this long after its time of acceptance: clocks differ, and the index follows
 * the table.
 */
const OVERLAP_MS = 30_000;
/** Entries of one partition of the list that one poll reads: 4,000 new commands in 35 s. */
const MAX_NEW = 1_000;
/** A page of an idle stage costs half a read unit. */
const FIRST_PAGE = 10;
const MAX_READS_AT_ONCE = 32;

/** An event with the command that it reports. */
export interface RecordedEvent extends DerivedEvent {
  readonly sender: string;
  /** Absent for a request without an id. */
  readonly commandId?: string;
  readonly operation: string;
  /** Absent for a rejection; so is `lane`. */
  readonly account?: string;
  readonly lane?: string;
}

/** The events that one poll found, the oldest first. */
export interface RecordedBatch {
  /** Where a follower begins that has these events and is to miss none, ISO 8601. It gets some of them again. */
  readonly next: string;
  readonly events: readonly RecordedEvent[];
  /** Whether events may be missing, because more commands were open or new than a poll reads. */
  readonly isPartial: boolean;
}

/** What is remembered of a command or a rejection. */
interface Watched {
  /** Due time at the last read; undefined: not in the index. */
  readonly dueAt: number | undefined;
  /** Whether its next change may leave its due time as it is. */
  readonly isUnsteady: boolean;
  /** Ids of its events that were yielded, or that happened before. */
  readonly seen: ReadonlySet<string>;
  /** Time of its newest event, epoch ms. */
  readonly newestAt: number;
}

interface Read {
  readonly events: readonly RecordedEvent[];
  readonly isUnsteady: boolean;
}

/** Whether a change can leave the due time as it is: the end of one of several tasks does. */
const isUnsteady = (command: Command, dueAt: number | undefined): boolean =>
  !isEnded(command) && (dueAt === undefined || tasksOf(command).length > 1);

const readCommand = async (
  ledger: Ledger,
  key: string,
  dueAt: number | undefined,
): Promise<Read | undefined> => {
  const command = (await readable(commands.read(ledger, key)))?.value;
  if (!command) return undefined;
  const { sender, id: commandId, operation, account, lane } = command;
  const events = eventsOf(command, await readTasksOf(ledger, command));
  return {
    events: events.map((event) => ({ ...event, sender, commandId, operation, account, lane })),
    isUnsteady: isUnsteady(command, dueAt),
  };
};

const readRejection = async (ledger: Ledger, key: string): Promise<Read> => {
  const { sender, id } = splitCommandKey(key);
  const found = (await readable(readRejections(ledger, sender, id))) ?? [];
  const events = found.flatMap((rejected) => {
    const { commandId, operation } = rejected;
    const about = { sender, operation, ...(commandId !== undefined && { commandId }) };
    return rejectionEvents(rejected).map((event) => ({ ...event, ...about }));
  });
  return { events, isUnsteady: false };
};

/** The entries of a partition after an instant, read in pages of doubled size. */
const newEntries = async (ledger: Ledger, partition: string, after: number) => {
  const found: ListEntry[] = [];
  for (let size = FIRST_PAGE; found.length < MAX_NEW; size *= 2) {
    const page = await ledger.list(partition, found.at(-1)?.sort, size);
    const fresh = page.filter(({ sort }) => sort > behindInstant(after));
    found.push(...fresh);
    if (fresh.length < size) return { found, isCut: false };
  }
  return { found, isCut: true };
};

/** Item keys that the list has after an instant, and whether there are more than a poll reads. */
const newItems = async (ledger: Ledger, after: number, now: number) => {
  // `after` is at most a day ago.
  const days = new Set([after, now, now + OVERLAP_MS].map((at) => dayOf(isoText(at))));
  const parts = await Promise.all(
    [...days].flatMap(partitionsOf).map((partition) => newEntries(ledger, partition, after)),
  );
  return {
    keys: parts.flatMap(({ found }) => found.map(({ key }) => key)),
    isCut: parts.some(({ isCut }) => isCut),
  };
};

/** Item keys to read in one poll, with their due times. */
const keysToRead = (
  watched: ReadonlyMap<string, Watched>,
  due: ReadonlyMap<string, number>,
  listed: readonly string[],
): ReadonlyMap<string, number | undefined> => {
  const changed = [...due.keys()].filter((key) => watched.get(key)?.dueAt !== due.get(key));
  const known = [...watched].flatMap(([key, { dueAt, isUnsteady }]) =>
    isUnsteady || (dueAt !== undefined && !due.has(key)) ? [key] : [],
  );
  const unknown = listed.filter((key) => !watched.has(key));
  return new Map([...changed, ...known, ...unknown].map((key) => [key, due.get(key)]));
};

interface Polled {
  readonly events: readonly RecordedEvent[];
  readonly isPartial: boolean;
}

/** A poll reads what has changed since the last one. @param since epoch ms; older events are left out */
const createPoll = (ledger: Ledger, since: number) => {
  const watched = new Map<string, Watched>();
  /** When the last poll began, epoch ms. */
  let polledAt = since;
  const dueCommands = createDueCommands(ledger);
  const limit = pLimit(MAX_READS_AT_ONCE);

  /** The events of an item that were not yielded before. */
  const take = (
    key: string,
    dueAt: number | undefined,
    read: Read,
    { now, horizon }: { readonly now: number; readonly horizon: number },
  ) => {
    const before = watched.get(key);
    // What is not remembered was yielded if it is older than the memory.
    const from = before ? since : Math.max(since, horizon);
    const fresh = read.events.filter(
      ({ id, time }) => !before?.seen.has(id) && Date.parse(time) >= from,
    );
    const times = read.events.map(({ time }) => Date.parse(time));
    const seen = new Set(read.events.map(({ id }) => id));
    watched.set(key, {
      ...{ dueAt, isUnsteady: read.isUnsteady, seen },
      newestAt: times.length > 0 ? Math.max(...times) : now,
    });
    return fresh;
  };

  return async (now: number): Promise<Polled> => {
    // The memory of ended commands, and the new part of the list, go back to the last poll, which may be long ago.
    const wanted = Math.min(now - EVERY_MS, polledAt) - OVERLAP_MS;
    const horizon = Math.max(wanted, now - LONGEST_GAP_MS);
    const { entries, isCut } = await dueCommands();
    const listed = await newItems(ledger, horizon, now);
    const open = entries.slice(0, MAX_COMMANDS);
    const due = new Map(open.map(({ key, dueAt }) => [`${commands.kind}#${key}`, dueAt]));
    const reading = keysToRead(watched, due, listed.keys);
    const found = await limit.map(reading, async ([itemKey, dueAt]) => {
      const [kind = "", key = ""] = itemKey.split(/#(.*)/s);
      const read =
        kind === commands.kind
          ? await readCommand(ledger, key, dueAt)
          : await readRejection(ledger, key);
      return read ? take(itemKey, dueAt, read, { now, horizon }) : [];
    });
    for (const [key, { dueAt, isUnsteady, newestAt }] of watched) {
      if (dueAt === undefined && !isUnsteady && newestAt < horizon) watched.delete(key);
    }
    polledAt = now;
    return {
      events: found.flat().toSorted((a, b) => Date.parse(a.time) - Date.parse(b.time)),
      isPartial:
        isCut || listed.isCut || entries.length > MAX_COMMANDS || wanted < now - LONGEST_GAP_MS,
    };
  };
};

/**
 * Follows the events that commands record, for a stage, where EventBridge has no live read. Polls every 5 s until the
 * signal aborts, and yields each event once, also one that still waits to be published; if the bus takes no events, a
 * command's end may be yielded only once it is published. Not recorded, so not
 * yielded: events of scheduled jobs, and rejections above the limits of their record.
 *
 * Each poll costs a query of the due index, four of the list (eight around midnight UTC), and a read of each command
 * that is new or has changed, of each with several tasks, and of their tasks. The first also reads each open command.
 * Remembers open commands and those of the last 35 s. After a gap, as of a computer that slept, it reads what came
 * since the last poll, at most a day.
 * @param since epoch ms; default: now
 * @throws Error when the ledger does not answer; begin again with `since`
 */
export async function* recordedEvents(
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  { signal, since = clock.now() }: { readonly signal: AbortSignal; readonly since?: number },
): AsyncGenerator<RecordedBatch> {
  const poll = createPoll(ledger, since);
  while (!signal.aborted) {
    const now = clock.now();
    yield { next: isoText(now - OVERLAP_MS), ...(await poll(now)) };
    await clock.sleep(EVERY_MS, signal);
  }
}
