import type { Account } from "../accounts/account.ts";
import type { EventBus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { Log } from "../ports/log.ts";
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
  readonly accountOf: (name: string) => Account | undefined;
  /** Sender of everything that arrives on the direct queue. */
  readonly ownSender: string;
  /** Key of the fingerprints; the same for every function that shares the ledger. */
  readonly fingerprintKey: string;
  /** Who holds the leases of this process. */
  readonly runner: string;
  /** Longer than any invocation lives, so that an expired lease means that its holder is gone. */
  readonly leaseMs: number;
}
