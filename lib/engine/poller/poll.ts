import { type HeldLease, takeLease } from "../../ledger/lease.ts";
import type { DueEntry } from "../../platform/ports/ledger.ts";
import { type AccountRounds, createAccountRounds, isTaskKey } from "./account-rounds.ts";
import {
  createEntryWork,
  createRunMemory,
  type EntryWork,
  type PollerDeps,
  type RunMemory,
  turnOf,
  within,
} from "./due-entries.ts";

/** More than a run can work off; what lies behind comes into view as that is worked off. */
const MAX_DUE = 10_000;
/** A nearer due time may be written while a run sleeps, and its wake finds this run at work. */
const MAX_SLEEP_MS = 1_000;

/**
 * How long a run waits at its end for what is under way. An operation that AWS does not answer may
 * take longer; whatever it still writes is under the version condition of its item.
 */
const STOP_MS = 1_500;

/**
 * Keeps a second run of the poller from doing the same work. It saves work only: correctness rests on
 * the version condition of each item.
 */
export const POLLER_LEASE = "poll-tasks";
/** Short, so that a run that was killed keeps the next scheduled one from nothing. */
const LEASE_MS = 10_000;

/** How long a run may go on. */
export interface PollBudget {
  /** Epoch ms; nothing new is started from then on. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
}

/** One run with a lease. */
interface Run {
  readonly deps: PollerDeps;
  readonly budget: PollBudget;
  readonly memory: RunMemory;
  readonly rounds: AccountRounds;
  readonly work: EntryWork;
}

const firstTurn = (entries: readonly DueEntry[], memory: RunMemory): number =>
  Math.min(...entries.map((entry) => turnOf(entry, memory)));

/** Until the next turn (epoch ms), or the end of a round or an entry, but not for long. */
const rest = async ({ deps, budget, rounds, work }: Run, next: number): Promise<void> => {
  const durationMs = Math.min(next - deps.clock.now(), MAX_SLEEP_MS);
  const wake = new AbortController();
  const asleep = deps.clock.sleep(durationMs, AbortSignal.any([budget.signal, wake.signal]));
  await Promise.race([asleep, rounds.nextEnd(), work.nextEnd()]);
  wake.abort();
  await asleep;
};

/**
 * Takes up everything whose turn it is, or waits for the next turn. No provider is waited for.
 * @returns whether anything is left for this run
 */
const step = async (run: Run, entries: readonly DueEntry[]): Promise<boolean> => {
  const { deps, budget, memory, rounds, work } = run;
  const free = entries.filter(
    ({ key }) => !(isTaskKey(key) ? rounds.isHeld(key) : work.isHeld(key)),
  );
  const now = deps.clock.now();
  const next = firstTurn(free, memory);
  if (next >= budget.endsAt && !rounds.areAtWork() && !work.isUnderWay()) return false;
  if (next > now) await rest(run, next);
  else {
    const due = free.filter((entry) => turnOf(entry, memory) <= now).map(({ key }) => key);
    rounds.begin(due.filter(isTaskKey), entries.length >= MAX_DUE);
    await work.workOff(due.filter((key) => !isTaskKey(key)));
  }
  rounds.endLate();
  return true;
};

/** Works off whatever is due, and what becomes due, until the budget ends or nothing is near. */
const drain = async (
  deps: PollerDeps,
  budget: PollBudget,
  memory: RunMemory,
  { first, lease }: { readonly first: readonly DueEntry[]; readonly lease: HeldLease },
): Promise<void> => {
  const hasTime = (): boolean => !budget.signal.aborted && deps.clock.now() < budget.endsAt;
  const rounds = createAccountRounds(deps, memory, budget.signal);
  const work = createEntryWork(deps, memory, hasTime);
  const run = { deps, budget, memory, rounds, work };
  let entries = first;
  try {
    while (hasTime()) {
      if (!(await step(run, entries))) return;
      await lease.renew();
      entries = await deps.ledger.listDue(budget.endsAt, MAX_DUE);
    }
  } finally {
    await within(deps.clock, STOP_MS, Promise.all([rounds.stop(), work.ended()]));
  }
  if (entries.length === 0) return;
  // Another run takes over from here, without waiting for the schedule.
  await deps.waker.wakeAt(Math.max(deps.clock.now(), firstTurn(entries, memory)));
};

/** Works on what is due, unless another run is at it. */
const drainAlone = async (
  deps: PollerDeps,
  budget: PollBudget,
  memory: RunMemory,
  first: readonly DueEntry[],
): Promise<void> => {
  const request = { name: POLLER_LEASE, by: deps.runner, durationMs: LEASE_MS };
  const lease = await takeLease(deps, request);
  if (!lease) return;
  try {
    await drain(deps, budget, memory, { first, lease });
  } finally {
    await lease.release();
  }
};

/**
 * How late the longest due entry is, seconds. A task that is followed is left out: its due time stays
 * where it was. Only its item tells it from one whose end is to be told, so of tasks those count that
 * the run has read. What is due at 0, which says "at once" and not since when, is left out too.
 */
const lagSeconds = (
  entries: readonly DueEntry[],
  { untoldSince }: RunMemory,
  now: number,
): number => {
  const oldest = entries.find(({ key, dueAt }) => dueAt > 0 && !isTaskKey(key));
  let since = oldest?.dueAt ?? now;
  for (const untold of untoldSince.values()) since = Math.min(since, untold);
  return Math.max(0, now - since) / 1000;
};

/**
 * One run of the poller: follows tasks, recovers and retries commands, hands lanes over, publishes
 * what is not yet published. With nothing outstanding it is one query. A run that comes to its end
 * is counted, with how late what it found was; the one that finds another at work is too.
 */
export const pollDue = async (deps: PollerDeps, budget: PollBudget): Promise<void> => {
  const beganAt = deps.clock.now();
  const memory = createRunMemory();
  const entries = await deps.ledger.listDue(budget.endsAt, MAX_DUE);
  if (entries.length > 0) await drainAlone(deps, budget, memory, entries);
  const value = lagSeconds(entries, memory, beganAt);
  deps.metrics.measure({ name: "LedgerLag", value, unit: "Seconds" }, ["PollerRan"]);
};
