/** Largest number of items in a chunk. Moving so few of them costs less than the search for the chunk. */
const MAX_CHUNK = 512;

/** Items in an order, each at most once. Adding and deleting one costs the logarithm of their number. */
export interface SortedList<T> {
  readonly size: () => number;
  /** Adds an item that the list does not hold. */
  add(item: T): void;
  /** Removes the item that is equal in the order. Returns false if there is none. */
  delete(item: T): boolean;
  first(): T | undefined;
  /** The items from one position to another, exclusive. Costs their number, and one step per chunk before them. */
  slice(from: number, to: number): T[];
  /** The number of items before the first one that is not before a bound. */
  countBefore(isBefore: (item: T) => boolean): number;
}

/** The position of the first item that is not before a bound, in an array whose items before it come first. */
const boundIn = <T>(items: readonly T[], isBefore: (item: T) => boolean): number => {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && isBefore(item)) low = middle + 1;
    else high = middle;
  }
  return low;
};

/**
 * Creates an empty list: an array of arrays, which needs no rebalancing.
 * @param compare negative if the first item comes first, 0 only for equal ones
 */
export const createSortedList = <T extends NonNullable<unknown>>(
  compare: (a: T, b: T) => number,
): SortedList<T> => {
  /** None of them is empty. */
  const chunks: T[][] = [];
  let size = 0;
  /** The position of the first chunk whose last item is not before a bound; the number of chunks if there is none. */
  const chunkAt = (isBefore: (item: T) => boolean): number =>
    boundIn(chunks, (chunk) => {
      const last = chunk.at(-1);
      return last !== undefined && isBefore(last);
    });

  return {
    size: () => size,
    add(item) {
      const isBefore = (other: T): boolean => compare(other, item) < 0;
      const position = chunkAt(isBefore);
      const chunk = chunks[position] ?? chunks.at(-1);
      size += 1;
      // Full chunks stay full when items arrive in order, as records do at a start.
      if (chunk === undefined || (position === chunks.length && chunk.length >= MAX_CHUNK)) {
        chunks.push([item]);
        return;
      }
      chunk.splice(boundIn(chunk, isBefore), 0, item);
      if (chunk.length > MAX_CHUNK) {
        chunks.splice(position + 1, 0, chunk.splice(MAX_CHUNK >>> 1));
      }
    },
    delete(item) {
      const isBefore = (other: T): boolean => compare(other, item) < 0;
      const position = chunkAt(isBefore);
      const chunk = chunks[position];
      if (chunk === undefined) return false;
      const index = boundIn(chunk, isBefore);
      const found = chunk[index];
      if (found === undefined || compare(found, item) !== 0) return false;
      chunk.splice(index, 1);
      if (chunk.length === 0) chunks.splice(position, 1);
      size -= 1;
      return true;
    },
    first: () => chunks[0]?.[0],
    slice(from, to) {
      const items: T[] = [];
      let start = 0;
      for (const chunk of chunks) {
        if (start >= to) break;
        if (start + chunk.length > from) {
          items.push(...chunk.slice(Math.max(0, from - start), to - start));
        }
        start += chunk.length;
      }
      return items;
    },
    countBefore(isBefore) {
      const position = chunkAt(isBefore);
      const whole = chunks.slice(0, position).reduce((sum, chunk) => sum + chunk.length, 0);
      return whole + boundIn(chunks[position] ?? [], isBefore);
    },
  };
};
