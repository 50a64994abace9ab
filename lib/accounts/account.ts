import type { Client } from "../client/client.ts";

/** The account of requests that name none. */
export const DEFAULT_ACCOUNT = "local";

/** A cloud account at the provider. */
export interface Account {
  readonly name: string;
  readonly client: Client;
  /**
   * A request whose reply was lost acts within this time or never (ms). An assumption about the
   * provider: absence of a created resource proves nothing before.
   */
  readonly settleMs: number;
  /** Whether the account's interface can list tasks and notification events. */
  readonly canList: boolean;
  /** The request budget: no run of a job sends more, however much it has to do. */
  readonly requestsPerSecond: number;
}
