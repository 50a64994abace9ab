/** The only source of randomness. */
export interface Random {
  /** At least 0, below 1. */
  fraction(): number;
  /** A version 7 UUID: unique, and ordered by creation time. */
  uuid(): string;
}

/** Items in random order, so that a run that is short of time does not always leave out the same ones. */
export const shuffled = <T>(items: readonly T[], random: Random): readonly T[] =>
  items
    .map((item) => ({ item, order: random.fraction() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
