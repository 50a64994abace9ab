/** The only source of randomness. */
export interface Random {
  /** At least 0, below 1. */
  fraction(): number;
  /** A version 7 UUID: unique, and ordered by creation time. */
  uuid(): string;
}
