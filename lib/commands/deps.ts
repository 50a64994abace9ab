import type { Access } from "../accounts/access.ts";
import type { Account } from "../accounts/account.ts";
import type { EventBus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { CommandQueue } from "../ports/queue.ts";
import type { Random } from "../ports/random.ts";
import type { Waker } from "../ports/waker.ts";

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
