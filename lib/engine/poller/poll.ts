import { type HeldLease, takeLease } from "../../ledger/lease.ts";
import type { DueEntry } from "../../platform/ports/ledger.ts";
import { type AccountRounds, createAccountRounds, isTaskKey } from "./account-rounds.ts";
import {
  createEntryWork,
  type EntryWork,
  type PollerDeps,
  type RunMemory,
  readyAt,
  within,
} from "./due-entries.ts";

/** Limit of the query: more than a run can handle. Further entries appear as these are handled. */
const MAX_DUE = 10_000;
/**
 * Limit of one sleep. An earlier due time may be written meanwhile, and its wake signal finds the lease
 * taken.
 */
const MAX_SLEEP_MS = 1_000;

/**
 * How long a run waits at its end for unfinished work. A call that AWS does not answer may take longer.
 * A late write is safe, because it carries the version condition of its item.
 */
const STOP_MS = 1_500;

/**
 * An entry that is ready this much later is left to the schedule, which starts a run each minute. The pause before a
 * check of an old task is at least as long.
 */
const LEFT_TO_SCHEDULE_MS = 45_000;

/** Name of the lease that keeps two runs from doing the same work. Version conditions ensure correctness. */
export const POLLER_LEASE = "poll-tasks";
/** Duration of the lease: short, so that a killed run does not delay the next scheduled one. */
const LEASE_MS = 10_000;

/** Time limit of one run. */
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

const nextReadyAt = (entries: readonly DueEntry[], memory: RunMemory): number =>
  Math.min(...entries.map((entry) => readyAt(entry, memory)));

/** Sleeps until an entry is ready (epoch ms), or a round or an entry ends, for at most a second. */
const rest = async ({ deps, budget, rounds, work }: Run, next: number): Promise<void> => {
  const durationMs = Math.min(next - deps.clock.now(), MAX_SLEEP_MS);
  const wake = new AbortController();
  const asleep = deps.clock.sleep(durationMs, AbortSignal.any([budget.signal, wake.signal]));
  await Promise.race([asleep, rounds.nextEnd(), work.nextEnd()]);
  // A reason saves the cost of the error that `abort()` creates.
  wake.abort("awake");
  await asleep;
};

/**
 * Begins everything that is ready, or waits for the next entry. Does not wait for a provider.
 * @returns whether anything is left for this run
 */
const step = async (run: Run, entries: readonly DueEntry[]): Promise<boolean> => {
  const { deps, budget, memory, rounds, work } = run;
  const free = entries.filter(({ key }) => !(isTaskKey(key) ? rounds : work).isHeld(key));
  const now = deps.clock.now();
  const next = nextReadyAt(free, memory);
  if (next >= budget.endsAt && !rounds.isUnderWay() && !work.isUnderWay()) return false;
  if (next > now) await rest(run, next);
  else {
    const due = free.filter((entry) => readyAt(entry, memory) <= now).map(({ key }) => key);
    rounds.begin(due.filter(isTaskKey), entries.length >= MAX_DUE);
    await work.handle(due.filter((key) => !isTaskKey(key)));
  }
  rounds.endLate();
  return true;
};

/**
 * Handles due entries, and those that become due, until the budget ends or no entry is due soon.
 */
const drain = async (
  deps: PollerDeps,
  budget: PollBudget,
  memory: RunMemory,
  { first, lease }: { readonly first: readonly DueEntry[]; readonly lease: HeldLease },
): Promise<void> => {
  const hasTime = (): boolean => !budget.signal.aborted && deps.clock.now() < budget.endsAt;
  const rounds = createAccountRounds(deps, memory, budget.signal);
  const work = createEntryWork(deps, memory, hasTime);
  const run: Run = { deps, budget, memory, rounds, work };
  let entries = first;
  try {
    while (hasTime()) {
      if (!(await step(run, entries))) break;
      await lease.renew();
      entries = await deps.ledger.listDue(budget.endsAt, MAX_DUE);
    }
  } finally {
    await within(deps.clock, STOP_MS, Promise.all([rounds.stop(), work.allEnded()]));
  }
  const now = deps.clock.now();
  const next = Math.max(now, nextReadyAt(entries, memory));
  // The next run takes over without waiting for the schedule.
  if (next < now + LEFT_TO_SCHEDULE_MS) await deps.waker.wakeAt(next);
};

/**
 * How late the oldest due entry is, seconds. A followed task keeps its due time, so a task counts only
 * if the run found its end unpublished. A due time of 0 means "at once" and has no start, so it does
 * not count.
 */
const lagSeconds = (
  entries: readonly DueEntry[],
  { unpublishedSince }: RunMemory,
  now: number,
): number => {
  const oldest = entries.find(({ key, dueAt }) => dueAt > 0 && !isTaskKey(key));
  let since = oldest?.dueAt ?? now;
  for (const at of unpublishedSince.values()) since = Math.min(since, at);
  return Math.max(0, now - since) / 1000;
};

/**
 * One run of the poller: follows tasks, recovers and retries commands, hands lanes over, publishes
 * unpublished events. An idle run is one query. Measures the ledger's lag and counts the run, even if
 * another run holds the lease.
 */
export const pollDue = async (deps: PollerDeps, budget: PollBudget): Promise<void> => {
  const beganAt = deps.clock.now();
  const memory: RunMemory = {
    notBefore: new Map(),
    unpublishedSince: new Map(),
    withoutLists: new Set(),
  };
  const entries = await deps.ledger.listDue(budget.endsAt, MAX_DUE);
  const request = { name: POLLER_LEASE, by: deps.runner, durationMs: LEASE_MS };
  const lease = entries.length > 0 ? await takeLease(deps, request) : undefined;
  if (lease) {
    await drain(deps, budget, memory, { first: entries, lease }).finally(() => lease.release());
  }
  const value = lagSeconds(entries, memory, beganAt);
  deps.metrics.measure({ name: "LedgerLag", value, unit: "Seconds" }, ["PollerRan"]);
};
