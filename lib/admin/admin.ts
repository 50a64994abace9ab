import type { PriceChangeView, PriceView, ReadingView } from "../jobs/prices/memory.ts";
import type { PriceTotals } from "../jobs/prices/totals.ts";
import type { AiTasksQuery, AiTasksView } from "./ai-tasks-view.ts";
import type {
  CancelAnswer,
  DeadLetterList,
  DeadLetterOutcome,
  DeadLetterPreview,
  LiftAnswer,
  PutAnswer,
  ResolveAnswer,
  Session,
  Verdict,
} from "./answers.ts";
import type { BulkPage } from "./bulk-cancel.ts";
import type { RejectionView } from "./command-view.ts";
import type { DeadLetterFilter, DeleteSelection, Selection } from "./dead-letter-selection.ts";
import type { EventSource } from "./event-stream.ts";
import type { CheckAnswer } from "./forms.ts";
import type { JobName, JobRun } from "./job-run.ts";
import type { BoundedQuery, BulkQuery, ListPage, ListQuery } from "./list-query.ts";
import type { LiveTask } from "./live-task.ts";
import type { OpenWork } from "./open.ts";
import type { ProviderView } from "./provider-view.ts";
import type { RequestView } from "./status.ts";
import type { ThresholdsView } from "./thresholds-view.ts";

/** A command by its id; `sender`: its AWS account, default Skyhook's own. */
interface CommandName {
  readonly id: string;
  readonly sender?: string | undefined;
}

/** The state of a request: a command, or a rejection. The bus knows less of a rejection than the ledger. */
export type RequestState =
  | RequestView
  | ({ readonly kind: "rejected" } & Pick<RejectionView, "operation" | "reason" | "problems">);

/** A request that cannot be served. `message` says what is wrong, and what to do. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /**
   * HTTP status: 400 for an invalid request, 403 for one that is not allowed, 404 for an unknown name, 413 for a body
   * that is too large, 502 when AWS does not answer or refuses.
   */
  readonly status: 400 | 403 | 404 | 413 | 502;
  constructor(status: Refusal["status"], message: string) {
    super(message);
    this.status = status;
  }
}

/** Ids of a request on its way to run-commands. */
interface SentIds {
  readonly commandId: string | undefined;
  readonly eventId: string | undefined;
}

/**
 * What an operator can see and do, on a local run and on a deployed stage alike. Every answer is JSON. An optional
 * part is absent where the run or the stage has nothing of its kind.
 */
export interface Admin {
  /** Facts of the run or stage, without what the console itself decides. */
  session(): Promise<Omit<Session, "allowsChanges" | "features" | "version">>;
  list(query: ListQuery): Promise<ListPage>;
  /** @param eventId selects one of several requests with the same command id */
  look(command: CommandName, eventId?: string): Promise<RequestState | undefined>;
  /** What is in progress: held lanes and followed tasks. */
  open(): Promise<OpenWork>;
  /** Undefined for an unknown command; so are the answers of `resolve` and `liftPause`. */
  cancel(command: CommandName): Promise<CancelAnswer | undefined>;
  /** Cancels the commands that match filters, page by page. */
  readonly bulkCancel: {
    preview(query: BulkQuery): Promise<BulkPage>;
    apply(query: BoundedQuery): Promise<BulkPage>;
  };
  resolve(command: CommandName, verdict: Verdict): Promise<ResolveAnswer | undefined>;
  /** Ends the pause that the provider requested for an account. */
  liftPause(account: string): Promise<LiftAnswer | undefined>;
  readonly deadLetters: {
    list(): Promise<DeadLetterList>;
    redrive(selection: Selection): Promise<readonly DeadLetterOutcome[]>;
    remove(selection: DeleteSelection, isForced: boolean): Promise<readonly DeadLetterOutcome[]>;
    /** What `redrive` and `remove` would do. */
    previewRedrive(filter: DeadLetterFilter): Promise<DeadLetterPreview>;
    previewRemove(filter: DeadLetterFilter, isForced: boolean): Promise<DeadLetterPreview>;
  };
  readonly prices: {
    list(): Promise<readonly PriceView[]>;
    /** The newest first; undefined for an unknown item. */
    history(item: string): Promise<readonly ReadingView[] | undefined>;
    /** @param since epoch ms @param item only this one */
    changes(since: number, item?: string): Promise<readonly PriceChangeView[]>;
    /** Sums of the current prices, by currency. */
    totals(): Promise<PriceTotals>;
  };
  /** Wanted and actual thresholds, read for this answer. Reads the provider's list where it can. */
  thresholds?(): Promise<ThresholdsView>;
  /** What the watch of AI tasks has recorded. */
  aiTasks?(query: AiTasksQuery): Promise<AiTasksView>;
  /** Sends a command. @param detail detail of a `CommandRequested` as JSON text @throws Refusal */
  send?(detail: string): Promise<SentIds>;
  /** Checks a request as intake does, and sends nothing. @param detail as of `send` */
  check?(detail: string): Promise<CheckAnswer>;
  /** Reads a task at the provider now. Undefined for an unknown account. */
  task?(account: string, id: string): Promise<LiveTask | undefined>;
  /** A look into the embedded service. */
  readonly provider?: ProviderView | undefined;
  readonly events?: EventSource;
  /** Puts an event on a bus. @param event JSON text of an event @throws Refusal */
  put?(event: string): Promise<PutAnswer>;
  /** Runs a scheduled job, and resolves when it has ended. */
  runJob?(name: JobName): Promise<JobRun>;
}
