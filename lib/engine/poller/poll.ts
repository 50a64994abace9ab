import {
  type HeldLease,
  type LeaseNote,
  leaveNote,
  readLease,
  takeLease,
} from "../../ledger/lease.ts";
import { type AccountRounds, createAccountRounds } from "./account-rounds.ts";
import { createEntryWork, type EntryWork, type PollerDeps, within } from "./entry-work.ts";
import {
  beginRun,
  createPollerMemory,
  entryCount,
  forgetEntries,
  MAX_SKEW_MS,
  maySkipEnds,
  nextCheckAt,
  nextQueryFrom,
  type PollerMemory,
  readyAt,
  takeEntries,
} from "./poller-memory.ts";

/** The period of the schedule. A run knows what is due until the next tick. */
const HORIZON_MS = 60_000;
/**
 * A run ends if nothing is ready within this time, because then a wake signal, two writes of the lease and the next
 * run cost less than the wait. See docs/decisions/0071.
 */
const WORTH_WAITING_MS = 500;
/** Shortest time between two queries of a run that works. */
const QUERY_PAUSE_MS = 1_000;
/** A wake signal may come this much later than the instant that it was asked for. */
const LATE_WAKE_MS = 500;

/**
 * How long a run waits at its end for unfinished work. A call that AWS does not answer may take longer.
 * A late write is safe, because it carries the version condition of its item.
 */
const STOP_MS = 1_500;

/**
 * Name of the lease that keeps two runs for a shard from doing the same work. Version conditions ensure correctness.
 */
export const pollerLease = (shard: number): string =>
  shard === 0 ? "poll-tasks" : `poll-tasks/${shard}`;
/**
 * With at most so many due entries, a run checks tasks for a second without the lease, which saves a write if none
 * has ended. In this time another run may do the same checks.
 */
const SMALL_RUN = 8;
const SMALL_RUN_MS = 1_000;
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
  readonly memory: PollerMemory;
  readonly lease: HeldLease;
  readonly rounds: AccountRounds;
  readonly work: EntryWork;
}

const earliest = (instants: Iterable<number>): number => {
  let first = Number.POSITIVE_INFINITY;
  for (const at of instants) first = Math.min(first, at);
  return first;
};

/** When the first entry is ready, epoch ms; Infinity: none is. */
const nextReadyAt = (memory: PollerMemory): number => {
  const { others, accounts } = memory;
  return Math.min(
    earliest([...others.values()].map((entry) => readyAt(entry, memory))),
    earliest([...accounts.values()].map((account) => nextCheckAt(account, memory))),
  );
};

/** Reads the due index: what may be new since the last query, or the whole shard. */
const queryDue = async (
  { ledger, clock, manyEntries }: PollerDeps,
  memory: PollerMemory,
): Promise<void> => {
  const now = clock.now();
  const from = nextQueryFrom(memory, now, manyEntries);
  memory.hasNews = false;
  const entries = await ledger.listDue(
    now + HORIZON_MS,
    Number.POSITIVE_INFINITY,
    memory.shard,
    from,
  );
  takeEntries(memory, entries, { now, ...(from !== undefined && { from }) });
};

/** Sleeps until an entry is ready (epoch ms), or a round or an entry ends, for at most a second. */
const rest = async ({ deps, budget, rounds, work }: Run, next: number): Promise<void> => {
  const durationMs = Math.min(next - deps.clock.now(), QUERY_PAUSE_MS);
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
const step = async (run: Run): Promise<boolean> => {
  const { deps, budget, memory, lease, rounds, work } = run;
  const others = [...memory.others.values()].filter(({ key }) => !work.isHeld(key));
  const now = deps.clock.now();
  const next = Math.min(
    rounds.nextBegin(),
    earliest(others.map((entry) => readyAt(entry, memory))),
  );
  const isBusy = rounds.isUnderWay() || work.isUnderWay();
  if (!isBusy && next >= Math.min(now + WORTH_WAITING_MS, budget.endsAt)) return false;
  if (next > now) await rest(run, next);
  else {
    rounds.begin();
    const ready = others.filter((entry) => readyAt(entry, memory) <= now);
    if (ready.length > 0 && (await lease.claim())) await work.handle(ready);
  }
  rounds.endLate();
  return true;
};

/** Handles due entries, and those that become due, until the budget ends or no entry is ready soon. */
const drain = async (
  deps: PollerDeps,
  budget: PollBudget,
  memory: PollerMemory,
  lease: HeldLease,
): Promise<void> => {
  const hasTime = (): boolean => !budget.signal.aborted && deps.clock.now() < budget.endsAt;
  const rounds = createAccountRounds(deps, memory, { signal: budget.signal, claim: lease.claim });
  const work = createEntryWork(deps, memory, hasTime);
  const run: Run = { deps, budget, memory, lease, rounds, work };
  try {
    while (hasTime()) {
      const isLeft = await step(run);
      // What was handled may have made something else due.
      if (!isLeft && !memory.hasNews) break;
      // Another run is at work, and changes what this one remembers.
      if (!(await lease.renew())) {
        forgetEntries(memory);
        break;
      }
      const isOld = deps.clock.now() >= memory.queriedAt + QUERY_PAUSE_MS;
      if (!isLeft || isOld) await queryDue(deps, memory);
    }
  } finally {
    await within(deps.clock, STOP_MS, Promise.all([rounds.stop(), work.allEnded()]));
    if (rounds.isUnderWay()) memory.mayHideEnds = true;
  }
};

/** What the next run has to know, if it is in another process. */
const noteOf = ({ queriedAt }: PollerMemory, wakeAt: number | undefined): LeaseNote => ({
  queriedAt,
  ...(wakeAt !== undefined && { wakeAt }),
});

/** The instant of a wake signal that is certainly still on its way, epoch ms. */
const promisedWake = (
  note: LeaseNote | undefined,
  { wakeAt: own }: PollerMemory,
  now: number,
): number | undefined => {
  // A signal comes when the clock of the process that asked for it says so, whichever process takes it.
  if (own > now) return own;
  const { wakeAt = 0 } = note ?? {};
  return wakeAt > now + MAX_SKEW_MS ? wakeAt : undefined;
};

/**
 * Sees to it that a run begins when the next entry is ready. The schedule does that for what is ready
 * later than its next tick.
 * @param wakeAt the wake signal that the last run asked for, epoch ms
 * @returns the wake signal that is now on its way
 */
const wakeNextRun = async (
  { clock, waker }: PollerDeps,
  memory: PollerMemory,
  next: number,
  wakeAt: number | undefined,
): Promise<number | undefined> => {
  const now = clock.now();
  // A signal that came during this run counts no more: its own run may have begun and ended without this next check.
  const isPromised = wakeAt !== undefined && wakeAt > now && wakeAt <= next + LATE_WAKE_MS;
  if (isPromised || next >= now + HORIZON_MS) return wakeAt;
  const at = Math.max(now, next);
  await waker.wakeAt(at, memory.shard);
  memory.wakeAt = at;
  return at;
};

/**
 * How late the oldest due entry is, seconds. A followed task keeps its due time, so a task counts only
 * if the run found its end unpublished. A due time of 0 means "at once" and has no start, so it does
 * not count.
 */
const lagSeconds = ({ unpublishedSince }: PollerMemory, oldestDueAt: number, now: number): number =>
  Math.max(0, now - Math.min(oldestDueAt, earliest(unpublishedSince.values()))) / 1000;

/** Due time of the oldest entry that is no task, epoch ms; Infinity: there is none. */
const oldestDueAt = ({ others }: PollerMemory): number =>
  earliest([...others.values()].map(({ dueAt }) => dueAt || Number.POSITIVE_INFINITY));

const drainWithLease = async (
  deps: PollerDeps,
  budget: PollBudget,
  memory: PollerMemory,
  { lease, wakeAt: promised }: { readonly lease: HeldLease; readonly wakeAt: number | undefined },
): Promise<void> => {
  try {
    await drain(deps, budget, memory, lease);
    const wakeAt = await wakeNextRun(deps, memory, nextReadyAt(memory), promised);
    await lease.release(noteOf(memory, wakeAt), !maySkipEnds(memory));
  } catch (error) {
    await lease.release(undefined, !maySkipEnds(memory));
    throw error;
  }
};

/** Leaves the work to the run that holds the lease, which may not see what is due only now. */
const leaveToHolder = async (
  deps: PollerDeps,
  memory: PollerMemory,
  wakeAt: number | undefined,
): Promise<void> => {
  await wakeNextRun(deps, memory, deps.clock.now() + QUERY_PAUSE_MS, wakeAt);
  deps.metrics.count("PollerRan");
};

/**
 * One run of the poller for a shard of the due index: follows tasks, recovers and retries commands, hands lanes over, publishes
 * unpublished events. It ends when nothing is ready for half a second, and asks for the next run by a wake signal.
 * A run with nothing to do is a read of the lease and a query. Counts each run, and measures the ledger's lag if no
 * other run holds the lease.
 * @param memory of the process for the shard, which saves work; default: a new one for shard 0
 */
export const pollDue = async (
  deps: PollerDeps,
  budget: PollBudget,
  memory: PollerMemory = createPollerMemory(deps.runner),
): Promise<void> => {
  const leaseName = pollerLease(memory.shard);
  const found = await readLease(deps.ledger, leaseName);
  const now = deps.clock.now();
  const { by, note, until = 0 } = found?.value ?? {};
  const wakeAt = promisedWake(note, memory, now);
  if (until > now) return leaveToHolder(deps, memory, wakeAt);
  const left = by === memory.runner ? undefined : (note ?? {});
  beginRun(memory, now, { left, hasDied: until > 0 });
  await queryDue(deps, memory);
  const oldest = oldestDueAt(memory);
  const next = nextReadyAt(memory);
  if (next < now + WORTH_WAITING_MS) {
    const request = { name: leaseName, by: memory.runner, durationMs: LEASE_MS };
    const afterMs = entryCount(memory) <= SMALL_RUN ? SMALL_RUN_MS : 0;
    const lease = await takeLease(deps, request, { found, afterMs });
    if (!lease) return leaveToHolder(deps, memory, wakeAt);
    await drainWithLease(deps, budget, memory, { lease, wakeAt });
  } else {
    const nextWakeAt = await wakeNextRun(deps, memory, next, wakeAt);
    if (nextWakeAt !== wakeAt)
      await leaveNote(deps.ledger, leaseName, found, noteOf(memory, nextWakeAt));
  }
  const value = lagSeconds(memory, oldest, now);
  deps.metrics.measure({ name: "LedgerLag", value, unit: "Seconds" }, ["PollerRan"]);
};
