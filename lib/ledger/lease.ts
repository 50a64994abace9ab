import * as z from "zod";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { recordKind, type Stored } from "./record.ts";

const leaseSchema = z.object({
  by: z.string(),
  /** Epoch ms; 0: released by a runner that left nothing half done. */
  until: z.int(),
  /** What the last runner leaves to the next one; its format is the job's. */
  note: z.record(z.string(), z.int()).optional(),
});

type Lease = z.output<typeof leaseSchema>;

/** Time of a lease that is over, and that no runner has released. */
const ENDED = 1;

/** What a runner leaves to the next one. */
export type LeaseNote = NonNullable<Lease["note"]>;

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
  /** Takes a lease that is to be taken later. @returns whether it is held */
  claim(): Promise<boolean>;
  /**
   * @param note for the next runner; default: the note of the last runner
   * @param isDone whether nothing is left half done; if not, the lease ends as after a death; default: true
   */
  release(note?: LeaseNote, isDone?: boolean): Promise<void>;
}

/** Reads a lease, for `takeLease`. @returns undefined for a lease that was never taken */
export const readLease = (ledger: Ledger, name: string): Promise<Stored<Lease> | undefined> =>
  leases.read(ledger, name);

/** Replaces the note of a lease that no runner has taken since it was read. */
export const leaveNote = async (
  ledger: Ledger,
  name: string,
  found: Stored<Lease> | undefined,
  note: LeaseNote,
): Promise<void> => {
  const free = found?.value ?? { by: "none", until: 0 };
  await leases.write(ledger, name, found, { ...free, note });
};

/** How a lease is taken; default: it is read now, and taken at once. */
export interface TakeOptions {
  /** The lease as it was read a moment ago. */
  readonly found: Stored<Lease> | undefined;
  /** A short run saves a write: the lease is taken by the first renewal after this time, or never. */
  readonly afterMs: number;
}

/** Takes a lease. @returns undefined when another runner holds it */
export const takeLease = async (
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  { name, by, durationMs }: LeaseRequest,
  options?: TakeOptions,
): Promise<HeldLease | undefined> => {
  const beganAt = clock.now();
  const found = options ? options.found : await leases.read(ledger, name);
  if (found && found.value.until > clock.now()) return undefined;
  const note = found?.value.note;
  /** The lease as we wrote it last; undefined before that, and when another runner has taken it. */
  let ours: Stored<Lease> | undefined;
  let isLost = false;
  const write = async (changes: Partial<Lease>): Promise<void> => {
    const current = { by, until: clock.now() + durationMs, ...(note && { note }), ...ours?.value };
    const next = { ...current, ...changes };
    // After a write without an answer, the version may be another one.
    ours = (await leases.write(ledger, name, ours ?? found, next)) ?? (await reclaim(changes));
    isLost = ours === undefined;
  };
  const reclaim = async (changes: Partial<Lease>): Promise<Stored<Lease> | undefined> => {
    if (!ours) return undefined;
    const stored = await leases.update(ledger, name, (lease) =>
      lease.by === by ? { ...lease, ...changes } : lease,
    );
    return stored.value.by === by ? stored : undefined;
  };
  if (!options?.afterMs) await write({});
  if (isLost) return undefined;

  const isEarly = (): boolean =>
    !ours && !isLost && clock.now() < beganAt + (options?.afterMs ?? 0);
  const leftMs = (): number => (ours ? ours.value.until - clock.now() : 0);
  let renewal: Promise<void> | undefined;
  const hold = (): Promise<void> => {
    renewal ??= write({ until: clock.now() + durationMs }).finally(() => {
      renewal = undefined;
    });
    return renewal;
  };
  return {
    async renew() {
      if (isEarly() || leftMs() > durationMs / 2) return true;
      if (isLost || (ours && ours.value.until <= ENDED)) return false;
      await hold();
      // The write may have taken longer than the lease lasts.
      return leftMs() > 0;
    },
    async claim() {
      if (!ours && !isLost) await hold();
      return leftMs() > 0;
    },
    async release(left, isDone = true) {
      if (!isLost) await write({ until: isDone ? 0 : ENDED, ...(left && { note: left }) });
    },
  };
};

/** Whether any runner holds the lease now. */
export const isLeaseHeld = async (
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  name: string,
): Promise<boolean> => ((await leases.read(ledger, name))?.value.until ?? 0) > clock.now();

/** Ends any lease, as if its time were over. Only for a ledger that no live process uses. */
export const breakLease = async (ledger: Ledger, name: string): Promise<void> => {
  const found = await leases.read(ledger, name);
  if (!found) return;
  const until = Math.min(found.value.until, ENDED);
  await leases.write(ledger, name, found, { ...found.value, until });
};
