import type { JsonObject } from "./ledger.ts";

/** One event for the bus. */
export interface BusEntry {
  /** Past tense PascalCase, for instance `CommandSucceeded`. */
  readonly detailType: string;
  readonly detail: JsonObject;
  /** Time of the fact, epoch ms. */
  readonly time: number;
  /** Order matters only inside a group. EventBridge ignores the group; an ordered bus needs it. */
  readonly groupId: string;
  /** The same for every publication of one fact. */
  readonly deduplicationId: string;
}

export type PublishOutcome =
  | { readonly kind: "published" }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

export interface EventBus {
  /**
   * Publishes any number of entries. Resolves to one outcome for each entry, in the given order.
   * Never rejects: if a whole call fails, each of its entries is `failed`, and may still have been
   * published.
   */
  publish(entries: readonly BusEntry[]): Promise<readonly PublishOutcome[]>;
}

/**
 * Maximum size of one PutEvents request, and so of one entry, in bytes.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/calculate-putevents-entry-size.html
 */
export const MAX_EVENT_BYTES = 256 * 1024;

/** Size that EventBridge counts for a time, in bytes. */
const TIME_BYTES = 14;

/** Size of an entry with a time as EventBridge counts it, in bytes, without the envelope. */
export const eventBytes = (source: string, detailType: string, detailJson: string): number =>
  TIME_BYTES +
  Buffer.byteLength(source) +
  Buffer.byteLength(detailType) +
  Buffer.byteLength(detailJson);
