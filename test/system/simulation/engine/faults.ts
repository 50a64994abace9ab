import type { Chance } from "./chance.ts";

/** An injected fault that took place. */
export interface Strike {
  /**
   * The call or occurrence that it struck: its name, and its number among those of that name, from 1.
   */
  readonly place: string;
  readonly kind: string;
  /** Epoch ms. */
  readonly at: number;
}

/**
 * The fault profile: the probability of each kind, from 0 to 1; a kind without an entry never
 * strikes.
 */
export type Weather = Readonly<Record<string, number>>;

/** A call with the fault that strikes it, if any. */
interface Visit {
  readonly place: string;
  readonly kind: string | undefined;
}

export interface Faults {
  /**
   * Decides whether a fault strikes this call, and which.
   * @param name of the call; calls with the same name are counted
   * @param kinds faults that this call can have
   */
  visit(name: string, kinds: readonly string[]): Visit;
  /** Ends all faults. */
  calm(): void;
  /** When the faults ended, epoch ms. */
  calmSince(): number | undefined;
  /** Number of calls so far. */
  calls(): number;
  /** All faults so far, in the order of time. */
  readonly struck: readonly Strike[];
}

/** Decides which of the possible kinds of faults strikes a place, if any. */
export type Decide = (place: string, kinds: readonly string[]) => string | undefined;

export const strikeId = ({ place, kind }: Pick<Strike, "place" | "kind">): string =>
  `${place} ${kind}`;

/** The seed decides. The decision for a place is the same in every run of a seed. */
export const seeded =
  ({ chance, weather }: { readonly chance: Chance; readonly weather: Weather }): Decide =>
  (place, kinds) => {
    // One draw decides among all kinds: the first kind with a share that contains it.
    let draw = chance.fraction(`fault ${place}`);
    for (const kind of kinds) {
      const share = weather[kind] ?? 0;
      if (draw < share) return kind;
      draw -= share;
    }
    return undefined;
  };

/** Exactly these faults strike, given as `place kind`. */
export const exactly =
  (strikes: ReadonlySet<string>): Decide =>
  (place, kinds) =>
    kinds.find((kind) => strikes.has(strikeId({ place, kind })));

/** Faults of a run, with a record of those that took place. */
export const createFaults = (decide: Decide, now: () => number): Faults => {
  const counts = new Map<string, number>();
  const struck: Strike[] = [];
  let calls = 0;
  let calmSince: number | undefined;

  return {
    struck,
    calls: () => calls,
    calmSince: () => calmSince,
    visit(name, kinds) {
      calls += 1;
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      const place = `${name} #${count}`;
      const kind = calmSince === undefined ? decide(place, kinds) : undefined;
      if (kind !== undefined) struck.push({ place, kind, at: now() });
      return { place, kind };
    },
    calm() {
      calmSince = now();
    },
  };
};
