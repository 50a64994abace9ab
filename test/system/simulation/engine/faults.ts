import type { Chance } from "./chance.ts";

/** Something that went wrong on purpose. */
export interface Strike {
  /** Which call or happening it struck: its name and, from 1, its number among those of that name. */
  readonly place: string;
  readonly kind: string;
  /** Epoch ms. */
  readonly at: number;
}

/** How often each kind strikes, from 0 to 1; kinds that are not named never do. */
export type Weather = Readonly<Record<string, number>>;

/** A call that is made, and what goes wrong with it. */
interface Visit {
  readonly place: string;
  readonly kind: string | undefined;
}

export interface Faults {
  /**
   * Whether something goes wrong here, and what.
   * @param name of the call; calls of one name are counted
   * @param kinds what could go wrong, each by itself
   */
  visit(name: string, kinds: readonly string[]): Visit;
  /** From now on nothing goes wrong any more. */
  calm(): void;
  /** Since when nothing goes wrong any more, epoch ms. */
  calmSince(): number | undefined;
  /** How many calls were made so far. */
  calls(): number;
  /** Everything that went wrong so far. */
  readonly struck: readonly Strike[];
}

interface FaultsOptions {
  readonly chance: Chance;
  readonly weather: Weather;
  readonly now: () => number;
  /** Only these strikes, as `place kind`; absent: all that chance brings. */
  readonly only: ReadonlySet<string> | undefined;
}

export const strikeId = ({ place, kind }: Pick<Strike, "place" | "kind">): string =>
  `${place} ${kind}`;

/** Decides what goes wrong in a run. A place has the same fate in every run of a seed. */
export const createFaults = ({ chance, weather, now, only }: FaultsOptions): Faults => {
  const counts = new Map<string, number>();
  const struck: Strike[] = [];
  let calls = 0;
  let calmSince: number | undefined;

  const fateOf = (place: string, kinds: readonly string[]): string | undefined => {
    // One draw for all kinds: the first in whose share it falls.
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
