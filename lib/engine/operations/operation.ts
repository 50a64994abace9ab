import type { Mutation } from "../../contract/operation.ts";
import type { Account } from "../../provider/accounts.ts";
import type { ProviderError } from "../../provider/provider-error.ts";
import type { CommandRequestBody } from "../command.ts";

/** What an operation gets to find out what became of a send without a reply. */
export interface Uncertainty {
  readonly account: Account;
  readonly request: CommandRequestBody;
  /** Epoch ms: none of the sends whose outcome is unknown left earlier, or later. */
  readonly firstSentAt: number;
  readonly lastSentAt: number;
  readonly now: number;
  /** Whether a task of the provider already belongs to a command of ours. */
  readonly isClaimed: (taskId: string) => Promise<boolean>;
  readonly signal: AbortSignal;
}

export type NextStep =
  | { readonly kind: "send" }
  | { readonly kind: "wait"; readonly until: number }
  /** The effect was found: these tasks are the command's. */
  | { readonly kind: "adopt"; readonly taskIds: readonly string[] }
  | { readonly kind: "unknown"; readonly rule: string };

export type RefusalMeaning =
  /** The uncertain send did it, and that is why this one was refused. */
  | { readonly kind: "done" }
  | { readonly kind: "refused" }
  | { readonly kind: "unknown"; readonly rule: string };

/** How one mutating operation behaves when a send got no reply. One file an operation. */
export interface CommandOperation {
  readonly operation: Mutation;
  /** What is done where there is nothing to send. */
  readonly instead?: (request: CommandRequestBody) => NextStep;
  /**
   * Before sending once more after an uncertain send.
   * @throws ProviderError when the provider cannot be asked now
   */
  readonly beforeSendingAgain: (uncertainty: Uncertainty) => Promise<NextStep>;
  /**
   * What a clear refusal means when an earlier send is uncertain.
   * @throws ProviderError when the provider cannot be asked now
   */
  readonly refusedAgain: (
    uncertainty: Uncertainty,
    refusal: ProviderError,
  ) => Promise<RefusalMeaning>;
}

/** The request states a target: a second effect equals the first. */
export const sendAgain = async (): Promise<NextStep> => ({ kind: "send" });

/** The refusal has nothing to do with the earlier send. */
export const isRefused = async (): Promise<RefusalMeaning> => ({ kind: "refused" });
