import type { EventBus } from "./bus.ts";
import type { Clock } from "./clock.ts";
import type { Ledger } from "./ledger.ts";
import type { Log } from "./log.ts";
import type { Random } from "./random.ts";

/** Ports of every scheduled job. */
export interface JobDeps {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Time limit of one run of a job. */
export interface JobBudget {
  /** Epoch ms; the run starts no new work from then on. */
  readonly endsAt: number;
  /** Aborts calls that would outlive the run. */
  readonly signal: AbortSignal;
}
