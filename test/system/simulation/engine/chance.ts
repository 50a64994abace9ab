/**
 * The only source of randomness of a run. Each draw has a name, and its value depends on the seed and
 * the name only. Leaving a part of a run out changes nothing about the rest, so a history can be
 * shortened. Keep the names of draws: another name gives every seed another run.
 */
export interface Chance {
  /** At least 0, below 1; equal for equal names. */
  fraction(name: string): number;
  /** A whole number, both bounds included. */
  between(name: string, from: number, to: number): number;
  pick<T>(name: string, choices: readonly T[]): T;
  happens(name: string, probability: number): boolean;
}

/** 53 well-mixed bits of a text (cyrb53): small, and enough for tests. */
const hash53 = (text: string): number => {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
};

/** @param seed a whole number from 0 */
export const createChance = (seed: number): Chance => {
  const fraction = (name: string): number => hash53(`${seed}/${name}`) / 2 ** 53;
  const between = (name: string, from: number, to: number): number =>
    from + Math.floor(fraction(name) * (to - from + 1));
  return {
    fraction,
    between,
    pick: (name, choices) => {
      const chosen = choices[between(name, 0, choices.length - 1)];
      if (chosen === undefined) throw new Error(`nothing to pick from: ${name}`);
      return chosen;
    },
    happens: (name, probability) => fraction(name) < probability,
  };
};
