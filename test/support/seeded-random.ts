import type { Random } from "../../lib/platform/ports/random.ts";

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

/** Repeatable random values: the same seed gives the same fractions and the same ascending UUIDs. */
export const createSeededRandom = (seed = 1): Random => {
  // mulberry32: small, and random enough for tests.
  let state = seed >>> 0;
  const next32 = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };

  let made = 0;
  const uuid = (): string => {
    made += 1;
    const time = hex(Date.UTC(2026, 0, 1) + made, 12);
    const chance = hex(next32(), 8) + hex(next32(), 8);
    return [
      time.slice(0, 8),
      time.slice(8),
      `7${chance.slice(0, 3)}`,
      `8${chance.slice(3, 6)}`,
      hex(next32(), 8) + chance.slice(6, 10),
    ].join("-");
  };

  return { fraction: () => next32() / 2 ** 32, uuid };
};
