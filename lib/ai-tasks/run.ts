import type { Account } from "../accounts/account.ts";
import type { Client } from "../client/client.ts";
import type { JobDeps } from "../ports/job.ts";

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
  /** Keeps the account's pace, and sends nothing when the time is over. */
  readonly client: Client;
}
