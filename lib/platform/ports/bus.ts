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
