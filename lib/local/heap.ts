/** Entries in an order of their own, the first one at hand. */
export interface Heap<T> {
  readonly size: number;
  push(entry: T): void;
  /** The first entry, which stays; undefined when there is none. */
  peek(): T | undefined;
  /** Removes the first entry. */
  pop(): T | undefined;
}

/**
 * A binary heap: `push` and `pop` take logarithmic time, and a push of the last entry in order constant time.
 * Entries that are equal in the order come out in any order.
 */
export const createHeap = <T>(isBefore: (a: T, b: T) => boolean): Heap<T> => {
  const entries: T[] = [];
  const comesFirst = (a: number, b: number): boolean => {
    const [one, other] = [entries[a], entries[b]];
    return one !== undefined && other !== undefined && isBefore(one, other);
  };
  const swap = (a: number, b: number): void => {
    const [one, other] = [entries[a], entries[b]];
    if (one === undefined || other === undefined) return;
    entries[a] = other;
    entries[b] = one;
  };
  const sink = (from: number): void => {
    for (let index = from; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const child = comesFirst(right, left) ? right : left;
      if (!comesFirst(child, index)) return;
      swap(index, child);
      index = child;
    }
  };
  return {
    get size() {
      return entries.length;
    },
    push(entry) {
      let index = entries.push(entry) - 1;
      while (index > 0) {
        const parent = (index - 1) >> 1;
        if (!comesFirst(index, parent)) return;
        swap(index, parent);
        index = parent;
      }
    },
    peek: () => entries[0],
    pop() {
      const first = entries[0];
      const last = entries.pop();
      if (entries.length > 0 && last !== undefined) {
        entries[0] = last;
        sink(0);
      }
      return first;
    },
  };
};
