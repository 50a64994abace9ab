import type { CommandDeps } from "../commands/deps.ts";
import { leases } from "../ledger/lease.ts";
import type { Ledger } from "../ports/ledger.ts";

/** Short, so that a run that was killed keeps the next scheduled one from nothing. */
const LEASE_MS = 10_000;
const NAME = "poll-tasks";

/**
 * The lease that keeps a second run of the poller from doing the same work. It saves work only:
 * correctness rests on the version condition of each item.
 */
export interface PollerLease {
  /** To be called on the way; writes when half of the time is over. */
  renew(): Promise<void>;
  release(): Promise<void>;
}

/** Takes the lease, unless another run holds it. */
export const takePollerLease = async ({
  ledger,
  clock,
  runner,
}: CommandDeps): Promise<PollerLease | undefined> => {
  const found = await leases.read(ledger, NAME);
  if (found && found.value.until > clock.now()) return undefined;
  const taken = { by: runner, until: clock.now() + LEASE_MS };
  if (!(await leases.write(ledger, NAME, found, taken))) return undefined;
  let { until } = taken;
  const holdUntil = (next: number) =>
    leases.update(ledger, NAME, (lease) =>
      lease.by === runner ? { ...lease, until: next } : lease,
    );
  return {
    async renew() {
      if (until - clock.now() > LEASE_MS / 2) return;
      until = clock.now() + LEASE_MS;
      await holdUntil(until);
    },
    async release() {
      await holdUntil(0);
    },
  };
};

/** Ends whatever lease there is: for a ledger whose every earlier user is known to be dead. */
export const breakPollerLease = async (ledger: Ledger): Promise<void> => {
  const found = await leases.read(ledger, NAME);
  if (found) await leases.write(ledger, NAME, found, { ...found.value, until: 0 });
};
