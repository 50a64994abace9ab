import type { HeldLease } from "../../ledger/lease.ts";
import type { JobDeps } from "../../platform/ports/job.ts";
import type { Account } from "../../provider/accounts.ts";
import type { Client } from "../../provider/client.ts";
import { type AiWatch, aiWatches, type OpenLook, watchFor } from "./ai-watch.ts";

/** Whose AI tasks to watch. */
export interface AiTaskWatch {
  readonly account: Account;
  /** Only tasks of this method, `transcription` or `content-moderation`; undefined: all. */
  readonly taskName: string | undefined;
}

/** One run over the tasks of one account. */
export interface AiTaskRun {
  readonly deps: JobDeps;
  readonly accountName: string;
  readonly taskName: string | undefined;
  /** Repeats what may pass later, and sends nothing when the time is over. */
  readonly client: Client;
  readonly lease: HeldLease;
  /** As it was when the run began. */
  readonly watch: AiWatch;
  /** Ids of the tasks that were followed then. */
  readonly followed: ReadonlySet<string>;
  /** What this run has seen of followed tasks so far, by task id. */
  readonly looks: Map<string, OpenLook>;
  /** Warns of what a run may meet often, once. */
  warnOnce(message: string): void;
}

/** @throws Error when the lease is lost: another run is at work */
export const requireLease = async ({ lease }: AiTaskRun): Promise<void> => {
  if (!(await lease.renew())) throw new Error("another run has taken over the AI tasks");
};

/** Changes the account's watch, made for this run's filter. */
export const changeWatch = async (
  { deps, accountName, taskName }: AiTaskRun,
  next: (watch: AiWatch) => AiWatch,
): Promise<AiWatch> => {
  const { value } = await aiWatches.change(deps.ledger, accountName, (stored) =>
    next(watchFor(stored, taskName)),
  );
  return value;
};
