import type { Account } from "../accounts/account.ts";
import type { EventBus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { ConfigSource } from "../ports/config-source.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import type { SyncCause } from "./sync-events.ts";

export interface ThresholdDeps {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Whose thresholds are to equal which config. */
export interface SyncRequest {
  readonly account: Account;
  readonly source: ConfigSource;
  readonly cause: SyncCause;
}

export interface SyncBudget {
  /** Epoch ms; no change is begun from then on. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
}

/** The sync did not come to its end; the same once more goes on where this one stopped. */
export class UnfinishedSyncError extends Error {
  override readonly name = "UnfinishedSyncError";
}
