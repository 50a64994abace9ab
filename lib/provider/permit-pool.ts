import type { Clock } from "../platform/ports/clock.ts";

interface Tokens {
  readonly tokens: number;
  /** Epoch ms; from then on they are worth nothing. */
  readonly expiresAt: number;
}

/** Turns that were granted to this process and are not used yet, all of one window. */
export interface TokenPool {
  add(tokens: Tokens): void;
  /** Takes so many, or none. @returns when they die, or undefined when there are not so many */
  take(count: number): number | undefined;
  clear(): void;
}

export const createTokenPool = (clock: Clock): TokenPool => {
  let left: Tokens = { tokens: 0, expiresAt: 0 };
  return {
    add({ tokens, expiresAt }) {
      const kept = left.expiresAt === expiresAt ? left.tokens : 0;
      left = { tokens: kept + tokens, expiresAt };
    },
    take(count) {
      if (left.tokens < count || clock.now() >= left.expiresAt) return undefined;
      left = { ...left, tokens: left.tokens - count };
      return left.expiresAt;
    },
    clear() {
      left = { tokens: 0, expiresAt: 0 };
    },
  };
};
