import { type HeldLease, takeLease } from "../../ledger/lease.ts";
import type { JobBudget, JobDeps } from "../../platform/ports/job.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import { createRetryingClient } from "../../provider/retrying-client.ts";
import { type AiWatch, aiWatches, applyLooks, watchFor } from "./ai-watch.ts";
import { ListRefusedError } from "./ask.ts";
import { lookAtUnseen } from "./check-unseen.ts";
import { tellListRefused } from "./publish-ends.ts";
import { readWhole, recordNew } from "./read-list.ts";
import { type AiTaskRun, type AiTaskWatch, changeWatch, requireLease } from "./run.ts";

/** Longer than one request with its pauses mostly takes; a run that died holds nobody up for longer. */
const LEASE_MS = 60_000;
const FULL_READ_EVERY_MS = 60 * 60 * 1000;

/** Names the lease of whoever watches an account's AI tasks: one run at a time. */
export const aiTasksLease = (account: string): string => `watch-ai-tasks/${account}`;

const startRun = async (
  deps: JobDeps,
  { account, taskName }: AiTaskWatch,
  budget: JobBudget,
  lease: HeldLease,
): Promise<AiTaskRun> => {
  const watch = watchFor((await aiWatches.read(deps.ledger, account.name))?.value, taskName);
  const warned = new Set<string>();
  return {
    deps,
    accountName: account.name,
    taskName,
    client: createRetryingClient(account.client, { ...deps, ...budget }),
    lease,
    watch,
    followed: new Set(watch.open.map(({ taskId }) => taskId)),
    looks: new Map(),
    warnOnce(message) {
      if (!warned.has(message)) deps.log.warn(message, { account: account.name });
      warned.add(message);
    },
  };
};

/** One is due again when it was cut off, and when the clock was put back since. */
const isFullReadDue = ({ fullReadAt, nextPage }: AiWatch, now: number): boolean =>
  nextPage !== undefined ||
  fullReadAt === undefined ||
  Math.abs(now - fullReadAt) >= FULL_READ_EVERY_MS;

/** A list that cannot be read to its end must keep nobody from what is new, and what is followed. */
const readWholeOrLater = async (run: AiTaskRun): Promise<void> => {
  try {
    await readWhole(run);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    run.deps.log.warn("list of AI tasks not read to its end, the next run goes on", {
      account: run.accountName,
      errorMessage: error.message,
    });
  }
};

const watchShown = async (run: AiTaskRun): Promise<void> => {
  const { watch, deps } = run;
  if (watch.fullReadAt === undefined) return readWhole(run);
  const isUpToDate = await recordNew(run);
  if (!isUpToDate || isFullReadDue(watch, deps.clock.now())) await readWholeOrLater(run);
  await lookAtUnseen(run);
  await requireLease(run);
  await changeWatch(run, (current) => applyLooks(current, run.looks));
};

/** A refused list is reported once; a failed run each minute would say no more. */
const watchAlone = async (run: AiTaskRun): Promise<void> => {
  try {
    await watchShown(run);
  } catch (error) {
    if (!(error instanceof ListRefusedError)) throw error;
    await tellListRefused(run, { status: error.status, problem: error.message });
  }
};

/**
 * One run: finds AI tasks of an account that are new, and publishes the end of each task once. While
 * another run is at work nothing happens. The first runs with a filter record what the list shows,
 * and publish nothing; a list that is too long for one run is gone on with by the next.
 *
 * The list is read from its newest page to the first on which every task is known and one has ended.
 * That can miss a task: another one was removed while pages were read, or one that was started late
 * stands below others. So once an hour the list is read to its end. An end is told of by the next
 * run as a rule, else by the next full read that shows it. One that a first reading missed is told of
 * too: nobody can tell it from a new one.
 *
 * Followed are at most 2,000 tasks at work; of more, the others are told of when the list shows their
 * end. With nothing new, and nothing followed below the newest page, a run is one request, one ledger
 * read for each ended task of that page, and the two writes of its lease. A full read writes once for
 * each page, and once at its end.
 * A list that the provider refuses with 403 or 404 is published once, as is its return.
 * @throws ProviderError when the list could not be read in time; what is recorded hides nothing
 * @throws Error when it was so slow that another run took over
 */
export const watchAiTasks = async (
  deps: JobDeps,
  watch: AiTaskWatch,
  budget: JobBudget,
): Promise<void> => {
  const lease = await takeLease(deps, {
    name: aiTasksLease(watch.account.name),
    by: deps.random.uuid(),
    durationMs: LEASE_MS,
  });
  if (!lease) {
    deps.log.info("another run watches the AI tasks", { account: watch.account.name });
    return;
  }
  try {
    await watchAlone(await startRun(deps, watch, budget, lease));
  } finally {
    await lease.release();
  }
};
