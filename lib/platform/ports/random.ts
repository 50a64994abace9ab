/** The only source of chance. */
export interface Random {
  /** At least 0, below 1. */
  fraction(): number;
  /** A version 7 UUID: unique and ordered by time of making. */
  uuid(): string;
}
