import type { EventBus } from "./bus.ts";
import type { Clock } from "./clock.ts";
import type { Ledger } from "./ledger.ts";
import type { Log } from "./log.ts";
import type { Random } from "./random.ts";

/** What every scheduled job needs from outside. */
export interface JobDeps {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** How long one run of a job may go on. */
export interface JobBudget {
  /** Epoch ms; nothing new is begun from then on. */
  readonly endsAt: number;
  /** Aborts what would outlive the run. */
  readonly signal: AbortSignal;
}
