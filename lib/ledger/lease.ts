import * as z from "zod";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { recordKind } from "./record.ts";

const leaseSchema = z.object({ by: z.string(), until: z.int() });

/** The runner of a job that only one runner may do at a time. */
const leases = recordKind({
  kind: "lease",
  schema: leaseSchema,
  dueAt: () => undefined,
});

export interface LeaseRequest {
  /** The name of the job. */
  readonly name: string;
  /** The unique id of the runner. */
  readonly by: string;
  readonly durationMs: number;
}

export interface HeldLease {
  /**
   * Renews the lease when half of its time is over; one write for all concurrent callers.
   * @returns whether the lease is held, then for at least half of its duration less the time that
   * the ledger took
   */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** Takes a lease. @returns undefined when another runner holds it */
export const takeLease = async (
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  { name, by, durationMs }: LeaseRequest,
): Promise<HeldLease | undefined> => {
  const found = await leases.read(ledger, name);
  if (found && found.value.until > clock.now()) return undefined;
  const taken = { by, until: clock.now() + durationMs };
  if (!(await leases.write(ledger, name, found, taken))) return undefined;
  /** Until when the lease is known to be ours, epoch ms; 0 when it is not. */
  let oursUntil = taken.until;
  const holdUntil = async (next: number): Promise<void> => {
    const { value } = await leases.update(ledger, name, (lease) =>
      lease.by === by ? { ...lease, until: next } : lease,
    );
    oursUntil = value.by === by ? next : 0;
  };
  let renewal: Promise<void> | undefined;
  return {
    async renew() {
      if (oursUntil - clock.now() > durationMs / 2) return true;
      if (oursUntil > 0) {
        renewal ??= holdUntil(clock.now() + durationMs).finally(() => {
          renewal = undefined;
        });
        await renewal;
      }
      // The write may have taken longer than the lease lasts.
      return oursUntil > clock.now();
    },
    release: () => holdUntil(0),
  };
};

/** Whether any runner holds the lease now. */
export const isLeaseHeld = async (
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  name: string,
): Promise<boolean> => ((await leases.read(ledger, name))?.value.until ?? 0) > clock.now();

/** Ends any lease. Only for a ledger that no live process uses. */
export const breakLease = async (ledger: Ledger, name: string): Promise<void> => {
  const found = await leases.read(ledger, name);
  if (found) await leases.write(ledger, name, found, { ...found.value, until: 0 });
};
