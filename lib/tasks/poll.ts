import type { CommandDeps } from "../commands/deps.ts";
import { type HeldLease, takeLease } from "../ledger/lease.ts";
import type { DueEntry } from "../ports/ledger.ts";
import { createRunMemory, turnOf, workOff } from "./work-off.ts";

/** More than a run can work off; what lies behind comes with the next query. */
const MAX_DUE = 10_000;
/** A nearer due time may be written while a run sleeps, and its wake finds this run at work. */
const MAX_SLEEP_MS = 1_000;

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

/** Works off whatever is due, and what becomes due, until the budget ends or nothing is near. */
const drain = async (
  deps: CommandDeps,
  { endsAt, signal }: PollBudget,
  first: readonly DueEntry[],
  lease: HeldLease,
): Promise<void> => {
  const memory = createRunMemory();
  let entries = first;
  while (entries.length > 0 && !signal.aborted) {
    const now = deps.clock.now();
    const next = Math.min(...entries.map((entry) => turnOf(entry, memory)));
    if (now >= endsAt) {
      // Another run takes over from here, without waiting for the schedule.
      await deps.waker.wakeAt(Math.max(now, next));
      return;
    }
    if (next >= endsAt) return;
    if (next > now) await deps.clock.sleep(Math.min(next - now, MAX_SLEEP_MS), signal);
    else {
      const due = entries.filter((entry) => turnOf(entry, memory) <= now);
      await workOff(deps, memory, due, signal);
    }
    await lease.renew();
    entries = await deps.ledger.listDue(endsAt, MAX_DUE);
  }
};

/**
 * One run of the poller: follows tasks, recovers and retries commands, hands lanes over, publishes
 * what is not yet published. With nothing outstanding it is one query.
 */
export const pollDue = async (deps: CommandDeps, budget: PollBudget): Promise<void> => {
  const entries = await deps.ledger.listDue(budget.endsAt, MAX_DUE);
  if (entries.length === 0) return;
  const request = { name: POLLER_LEASE, by: deps.runner, durationMs: LEASE_MS };
  const lease = await takeLease(deps, request);
  if (!lease) return;
  try {
    await drain(deps, budget, entries, lease);
  } finally {
    await lease.release();
  }
};
