import type { EventBus } from "../platform/ports/bus.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Metrics } from "../platform/ports/metrics.ts";
import type { CommandQueue } from "../platform/ports/queue.ts";
import type { Random } from "../platform/ports/random.ts";
import type { Waker } from "../platform/ports/waker.ts";
import type { Access } from "../provider/access.ts";
import type { Account } from "../provider/accounts.ts";

export interface CommandDeps {
  readonly ledger: Ledger;
  readonly queue: CommandQueue;
  readonly bus: EventBus;
  readonly waker: Waker;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly access: Access;
  readonly accountOf: (name: string) => Account | undefined;
  /** Our own AWS account: the sender of everything that arrives on the direct queue. */
  readonly ownSender: string;
  /** Key of fingerprints and seals; the same for every function that shares the ledger. */
  readonly fingerprintKey: string;
  /** Who holds the leases of this process. */
  readonly runner: string;
  /** Longer than any invocation lives, so that an expired lease means that its holder is gone. */
  readonly leaseMs: number;
}
