import type { JsonObject } from "./ledger.ts";

/** One event for the bus. */
export interface BusEntry {
  /** Past tense PascalCase, for instance `CommandSucceeded`. */
  readonly detailType: string;
  readonly detail: JsonObject;
  /** When the fact happened, epoch ms. */
  readonly time: number;
  /** Order matters only between entries of one group; EventBridge ignores it, an ordered bus needs it. */
  readonly groupId: string;
  /** The same for every publication of one fact. */
  readonly deduplicationId: string;
}

export type PublishOutcome =
  | { readonly kind: "published" }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

export interface EventBus {
  /**
   * Publishes any number of entries; answers one outcome an entry, in the order given.
   * Never rejects: a call that failed wholly is `failed` for each of its entries, and may still
   * have taken effect.
   */
  publish(entries: readonly BusEntry[]): Promise<readonly PublishOutcome[]>;
}

/**
 * The most that one PutEvents request, and so one entry, may hold.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/calculate-putevents-entry-size.html
 */
export const MAX_EVENT_BYTES = 256 * 1024;

/** EventBridge counts every time as this many bytes. */
const TIME_BYTES = 14;

/** The size of an entry that carries a time, as EventBridge counts it: before it adds the envelope. */
export const eventBytes = (source: string, detailType: string, detailJson: string): number =>
  TIME_BYTES +
  Buffer.byteLength(source) +
  Buffer.byteLength(detailType) +
  Buffer.byteLength(detailJson);
