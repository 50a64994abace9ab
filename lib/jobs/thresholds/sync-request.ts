import type { ConfigSource } from "../../platform/ports/config-source.ts";
import type { JobDeps } from "../../platform/ports/job.ts";
import type { Metrics } from "../../platform/ports/metrics.ts";
import type { Account } from "../../provider/accounts.ts";
import type { SyncCause } from "./sync-events.ts";

/** Whose thresholds are to equal which config. */
export interface SyncRequest {
  readonly account: Account;
  readonly source: ConfigSource;
  readonly cause: SyncCause;
}

export interface SyncDeps extends JobDeps {
  readonly metrics: Metrics;
}

/** The sync did not come to its end; the same once more goes on where this one stopped. */
export class UnfinishedSyncError extends Error {
  override readonly name = "UnfinishedSyncError";
}
