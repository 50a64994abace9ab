import pLimit from "p-limit";
import { type HeldLease, takeLease } from "../../ledger/lease.ts";
import type { JobBudget, JobDeps } from "../../platform/ports/job.ts";
import { shuffled } from "../../platform/ports/random.ts";
import type { Account } from "../../provider/accounts.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import { createRetryingClient } from "../../provider/retrying-client.ts";
import { publishEnd, publishVanishing } from "./ai-task.ts";
import {
  type AiTaskRun,
  type AiWatch,
  aiWatches,
  applyChecks,
  changeWatch,
  type OpenAiTask,
  publishListRefused,
  requireLease,
  type TaskCheck,
  watchFor,
} from "./ai-watch.ts";
import { readWhole, recordNew } from "./read-list.ts";
import { askForTask, endOf, hasEnded, ListRefusedError } from "./task-list.ts";

/** Duration of the lease: longer than most requests with their pauses, and the wait after a run that died. */
const LEASE_MS = 60_000;
const FULL_READ_EVERY_MS = 60 * 60 * 1000;

/** Name of the lease that lets one run at a time watch an account's AI tasks. */
export const aiTasksLease = (account: string): string => `watch-ai-tasks/${account}`;

interface AiTaskWatch {
  readonly account: Account;
  /** Only tasks of this method, `transcription` or `content-moderation`; undefined: all. */
  readonly taskName: string | undefined;
}

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
    checks: new Map(),
    warnOnce(message) {
      if (!warned.has(message)) deps.log.warn(message, { account: account.name });
      warned.add(message);
    },
  };
};

/** Whether a full read is due: also after one that was cut off, and after the clock was set back. */
const isFullReadDue = ({ fullReadAt, nextPage }: AiWatch, now: number): boolean =>
  nextPage !== undefined ||
  fullReadAt === undefined ||
  Math.abs(now - fullReadAt) >= FULL_READ_EVERY_MS;

/** Reads the whole list. A failure is only logged, so that the run still checks new and followed tasks. */
const readWholeOrLater = async (run: AiTaskRun): Promise<void> => {
  try {
    await readWhole(run);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    run.deps.log.warn("list of AI tasks not read to its end; the next run continues", {
      account: run.accountName,
      errorMessage: error.message,
    });
  }
};

const MAX_AT_ONCE = 4;
/** Absence after which a task counts as vanished; the provider may hide a task for a moment. */
const MISSING_FOR_MS = 5 * 60 * 1000;
/** Checks that must have missed it too, because a clock that jumps skips the time. */
const MISSING_CHECKS = 3;

const checkMissing = async (run: AiTaskRun, task: OpenAiTask): Promise<TaskCheck> => {
  const now = run.deps.clock.now();
  const { since, looks } = task.missing ?? { since: now, looks: 0 };
  const isGone = now - since >= MISSING_FOR_MS && looks + 1 >= MISSING_CHECKS;
  if (!isGone) return { kind: "missing", since, looks: Math.min(looks + 1, MISSING_CHECKS) };
  await publishVanishing(run, task, since);
  return { kind: "over" };
};

const check = async (run: AiTaskRun, task: OpenAiTask): Promise<TaskCheck> => {
  const shown = await askForTask(run, task.taskId);
  await requireLease(run);
  if (!shown) return checkMissing(run, task);
  if (!hasEnded(shown)) return { kind: "present" };
  await publishEnd(run, endOf(shown));
  return { kind: "over" };
};

/**
 * Asks for followed tasks that the read pages did not show, one by one, while there is time. Records and
 * publishes each end and disappearance at once. A check that fails changes nothing.
 */
const checkUnseen = async (run: AiTaskRun): Promise<void> => {
  const { log, random } = run.deps;
  const unseen = run.watch.open.filter(({ taskId }) => !run.checks.has(taskId));
  const errors: unknown[] = [];
  await pLimit(MAX_AT_ONCE).map(shuffled(unseen, random), async (task) => {
    try {
      run.checks.set(task.taskId, await check(run, task));
    } catch (error) {
      errors.push(error);
    }
  });
  const [first] = errors;
  if (first !== undefined) {
    log.warn("AI tasks not checked; they stay followed", {
      account: run.accountName,
      count: errors.length,
      errorMessage: first instanceof Error ? first.message : String(first),
    });
  }
};

const watchShown = async (run: AiTaskRun): Promise<void> => {
  const { watch, deps } = run;
  if (watch.fullReadAt === undefined) return readWhole(run);
  const isUpToDate = await recordNew(run);
  if (!isUpToDate || isFullReadDue(watch, deps.clock.now())) await readWholeOrLater(run);
  await checkUnseen(run);
  await requireLease(run);
  await changeWatch(run, (current) => applyChecks(current, run.checks));
};

/** Reports a refused list once, instead of failing a run each minute. */
const watchAlone = async (run: AiTaskRun): Promise<void> => {
  try {
    await watchShown(run);
  } catch (error) {
    if (!(error instanceof ListRefusedError)) throw error;
    await publishListRefused(run, { status: error.status, problem: error.message });
  }
};

/**
 * Runs the job once: finds new AI tasks of an account, and publishes the end of each task once. Does nothing
 * while another run is active. The first full read with a filter is the baseline: it records the listed
 * tasks and publishes nothing. If a run cannot finish the list, the next run continues it.
 *
 * A run reads from the newest page to the first on which every task is known and one has ended. That can
 * miss a task: another one was removed while pages were read, or one that started late is listed below
 * others. So a run reads the whole list once an hour. Usually the next run publishes an end, else the next
 * full read that lists it. A full read also publishes an end that the baseline missed, because it looks
 * like a new one.
 *
 * A watch follows at most 2,000 running tasks; ends of further ones are published when the list shows them.
 * With nothing new, and nothing followed below the newest page, a run is one request, one ledger read for
 * each ended task of that page, and the two writes of its lease. A full read writes once for each page, and
 * once at its end. A list that the provider refuses with 403 or 404 is published once, as is its return.
 * @throws ProviderError when the list could not be read in time; the records so far hide no task
 * @throws Error when the run was so slow that another run took over
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
