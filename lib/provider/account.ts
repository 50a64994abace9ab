import type { Operation } from "../contract/operation.ts";
import type { Client } from "./client.ts";

/** Whether a request may leave, and if not: when to ask again (epoch ms), and why it has to wait. */
export type Readiness =
  | { readonly kind: "ready" }
  | {
      readonly kind: "wait";
      readonly until: number;
      readonly because: "budget-spent" | "key-refused" | "paused";
    };

/** The account of requests that name none. */
export const DEFAULT_ACCOUNT = "local";

/** A cloud account at the provider. */
export interface Account {
  readonly name: string;
  /** Keeps to the request budget, and uses a key that was replaced. */
  readonly client: Client;
  /**
   * To be asked before a request that is recorded before it is sent, and before what is read for it:
   * turns are kept for the next calls while their window, a second, lasts. Waits up to a second if
   * that helps.
   * @param turns how many requests are to follow, from 1. One turn is enough where a window never has
   * as many, and while the key is refused, when one request finds out
   * @throws Error when the ledger fails
   */
  ready(signal: AbortSignal, turns: number): Promise<Readiness>;
  /** The path template that the account's provider answers to. */
  pathOf(operation: Operation): string;
  /**
   * A request whose reply was lost acts within this time or never (ms). An assumption about the
   * provider: absence of a created resource proves nothing before.
   */
  readonly settleMs: number;
  /** Whether the account's interface can list tasks and notification events. */
  readonly canList: boolean;
}
