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

interface FaultsOptions {
  readonly chance: Chance;
  readonly weather: Weather;
  readonly now: () => number;
  /** Only these faults, as `place kind`; absent: every fault that the seed decides. */
  readonly only: ReadonlySet<string> | undefined;
}

export const strikeId = ({ place, kind }: Pick<Strike, "place" | "kind">): string =>
  `${place} ${kind}`;

/** Fault decisions of a run. The decision for a place is the same in every run of a seed. */
export const createFaults = ({ chance, weather, now, only }: FaultsOptions): Faults => {
  const counts = new Map<string, number>();
  const struck: Strike[] = [];
  let calls = 0;
  let calmSince: number | undefined;

  const fateOf = (place: string, kinds: readonly string[]): string | undefined => {
    // One draw decides among all kinds: the first kind with a share that contains it.
    let draw = chance.fraction(`fault ${place}`);
    for (const kind of kinds) {
      const share = weather[kind] ?? 0;
      if (draw < share) return kind;
      draw -= share;
    }
    return undefined;
  };

  return {
    struck,
    calls: () => calls,
    calmSince: () => calmSince,
    visit(name, kinds) {
      calls += 1;
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      const place = `${name} #${count}`;
      const kind = calmSince !== undefined ? undefined : fateOf(place, kinds);
      if (kind === undefined || (only && !only.has(strikeId({ place, kind })))) {
        return { place, kind: undefined };
      }
      struck.push({ place, kind, at: now() });
      return { place, kind };
    },
    calm() {
      calmSince = now();
    },
  };
};
