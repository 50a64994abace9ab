import { createHeap } from "./heap.ts";

/** Time for which a queue drops a message with an id that it has seen. */
export const DEDUPLICATION_MS = 5 * 60 * 1000;

/** A stored deduplication id. */
export interface Deduplication {
  readonly kind: "deduplication";
  readonly id: string;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/** The deduplication ids of the last five minutes. */
export interface Deduplications {
  add(deduplication: Deduplication): void;
  has(id: string): boolean;
  /** Removes the ids that ended until now. The caller adds them again if their removal cannot be stored. */
  takeEnded(now: number): readonly Deduplication[];
}

export const createDeduplications = (stored: readonly Deduplication[]): Deduplications => {
  const ids = new Set<string>();
  const byEnd = createHeap<Deduplication>((a, b) => a.expiresAt < b.expiresAt);
  const add = (deduplication: Deduplication): void => {
    ids.add(deduplication.id);
    byEnd.push(deduplication);
  };
  stored.forEach(add);
  return {
    add,
    has: (id) => ids.has(id),
    takeEnded(now) {
      const ended: Deduplication[] = [];
      for (let first = byEnd.peek(); first && first.expiresAt <= now; first = byEnd.peek()) {
        byEnd.pop();
        ids.delete(first.id);
        ended.push(first);
      }
      return ended;
    },
  };
};
