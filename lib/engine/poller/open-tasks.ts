import type { Stored } from "../../ledger/record.ts";
import type { DueEntry } from "../../platform/ports/ledger.ts";
import type { Random } from "../../platform/ports/random.ts";
import { FIRST_CHECK_MS, isBeside, splitTaskKey, type Task, tasks } from "../task.ts";

/** The shortest pause between two checks of a task that is read by itself. */
const MIN_PAUSE_MS = 4_300;
/** The shortest pause between two lists of an account. */
const MIN_LIST_PAUSE_MS = 3_200;
/** Additional pause for each page of a list: long lists are read less often. */
const PAUSE_OF_PAGE_MS = 600;
/** The period of the poller's schedule, so that no check is missed when a run ends. */
const MAX_PAUSE_MS = 60_000;
/** Part of a task's age that passes before its next check: an end is found late by so much of its duration. */
const PART_OF_AGE = 0.075;
/** Pauses are whole seconds, because SQS delays a wake signal by those. */
const SECOND_MS = 1_000;
/** Spreads the checks of tasks and accounts that began together. */
const JITTER_MS = 1_000;

/** An open task in the memory of a process, as far as its item or its due entry shows it. */
export interface OpenTask {
  readonly entry: DueEntry;
  /** The provider's id. */
  readonly id: string;
  /** When it was recorded, epoch ms. */
  readonly recordedAt: number;
  /** Whether it may have begun long before its record, because the command did not start it alone. */
  readonly isBeside: boolean;
  /** Its item; undefined: the process has not read it. */
  readonly item: Stored<Task> | undefined;
  /** Next check, epoch ms; undefined: this run has not checked it. */
  readonly checkAt: number | undefined;
  /** Its creation at the provider by the provider's clock, epoch ms; undefined: not seen in a list. */
  readonly createdAt: number | undefined;
}

const notChecked = { checkAt: undefined, createdAt: undefined };

/** The open task of an item. */
export const openTask = (entry: DueEntry, item: Stored<Task>): OpenTask => {
  const { value: task } = item;
  const { id, recordedAt } = task;
  return { ...{ entry, id, recordedAt, item }, isBeside: isBeside(task), ...notChecked };
};

/** The task as its due entry shows it; undefined where the item has to be read. */
export const unreadTask = (entry: DueEntry): OpenTask | undefined => {
  const parts = splitTaskKey(entry.key.slice(tasks.itemKey("").length));
  return (
    parts && {
      ...{ entry, id: parts.id, recordedAt: entry.dueAt - FIRST_CHECK_MS, item: undefined },
      ...{ isBeside: false, ...notChecked },
    }
  );
};

/** What a run remembers of one account, so that a check without news reads and writes nothing. */
export interface AccountTasks {
  /** Due entries of tasks, by key. */
  readonly due: Map<string, DueEntry>;
  /** Open tasks by the key of their due entry. */
  readonly open: Map<string, OpenTask>;
  /** The first check of a task, epoch ms; undefined: it is not computed yet. */
  nextCheckAt: number | undefined;
  /** No list before this time, epoch ms. */
  nextListAt: number;
  /** Pages of the last list of open tasks; other clients' tasks are on them too. */
  pages: number;
  /** Lists that the account's API has refused. */
  readonly refused: Set<"open" | "ended">;
}

export const noTasks = (): AccountTasks => ({
  due: new Map(),
  open: new Map(),
  nextCheckAt: undefined,
  nextListAt: 0,
  pages: 1,
  refused: new Set(),
});

/** Lengthens a pause by less than the jitter, to whole seconds. */
const spread = (pauseMs: number, random: Random): number => {
  const seconds = Math.floor((pauseMs + random.fraction() * JITTER_MS) / SECOND_MS);
  return Math.min(MAX_PAUSE_MS, seconds * SECOND_MS);
};

/** The shortest pause between two lists with so many pages, ms: 3.2 s, or 0.6 s for each page. */
export const pauseOfPages = (pages: number): number =>
  Math.min(MAX_PAUSE_MS, Math.max(MIN_LIST_PAUSE_MS, pages * PAUSE_OF_PAGE_MS));

/** No other list before this time, epoch ms: the shortest pause that `pauseBeforeList` gives. */
export const nextListAfter = (now: number, pages: number): number =>
  now + Math.floor(pauseOfPages(pages) / SECOND_MS) * SECOND_MS;

/** The pause before the next check of a task of this age, ms: 7.5 % of it, at least 4.3 s, at most 60 s. */
export const pauseOfAge = (ageMs: number): number =>
  Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, ageMs * PART_OF_AGE));

/**
 * The pause before the next check of a task that is read by itself, with a jitter. A task of 60 s costs about 14
 * checks, and one of 2 h about 150.
 * @param ageMs since it was recorded; below 0 when a clock is slow
 */
export const pauseBeforeCheck = (ageMs: number, random: Random): number =>
  spread(pauseOfAge(ageMs), random);

/**
 * The pause before the next list, with a jitter: about the time until one of the tasks that it serves would be due
 * for a check by itself, so that the list costs no more requests than they would.
 * @param agesMs of the tasks; at least one
 * @param pages of the list
 */
export const pauseBeforeList = (
  agesMs: readonly number[],
  pages: number,
  random: Random,
): number => {
  const checksPerMs = agesMs.reduce((sum, age) => sum + 1 / pauseOfAge(age), 0);
  return spread(Math.max(pauseOfPages(pages), Math.round(1 / checksPerMs)), random);
};
