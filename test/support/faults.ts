/** A call of a port during an invocation of a function. */
interface PortCall {
  readonly name: string;
  readonly invocation: number;
}

/**
 * Wraps every port call of a test world.
 * @param effect makes the call; with a limit, for that many of its entries only
 */
export type Around = <T>(call: PortCall, effect: (limit?: number) => Promise<T>) => Promise<T>;

export type FaultKind =
  /** The invocation is killed before the call, and makes no other call. */
  | "killed"
  /** The call takes effect, and the invocation is killed before it gets the reply. */
  | "killed after"
  /** The invocation is killed after the first entry of the call took effect. */
  | "killed half-way"
  /** The call fails without effect, and the invocation continues. */
  | "fails before"
  /** The call takes effect, its reply is lost, and the invocation continues. */
  | "fails after"
  /** The first entry takes effect, the others fail, and the invocation continues. */
  | "fails half-way";

/** Error of every later call of a killed invocation. These calls have no effect. */
class Killed extends Error {
  override readonly name = "Killed";
}

/** Error of a call that fails by a fault. */
class InjectedFault extends Error {
  override readonly name = "InjectedFault";
}

export interface Faults {
  readonly around: Around;
  /** Names of all calls so far. */
  readonly calls: readonly string[];
  /** Adds a fault to the nth call, from 1 over all invocations. Earlier faults stay. */
  strike(nth: number, kind: FaultKind): void;
}

export const createFaults = (): Faults => {
  const calls: string[] = [];
  const killed = new Set<number>();
  const planned = new Map<number, FaultKind>();

  const strikeNow = async <T>(
    kind: FaultKind,
    invocation: number,
    effect: (limit?: number) => Promise<T>,
  ): Promise<T> => {
    if (kind.endsWith(" after")) await effect();
    if (kind.endsWith(" half-way")) await effect(1);
    if (!kind.startsWith("killed")) throw new InjectedFault(kind);
    killed.add(invocation);
    throw new Killed(kind);
  };

  return {
    calls,
    async around(call, effect) {
      if (killed.has(call.invocation)) throw new Killed("the invocation was killed");
      const nth = calls.push(call.name);
      const kind = planned.get(nth);
      if (kind !== undefined) return strikeNow(kind, call.invocation, effect);
      const answer = await effect();
      // A parallel call of the same invocation may have been killed meanwhile.
      if (killed.has(call.invocation)) throw new Killed("the invocation was killed");
      return answer;
    },
    strike: (nth, kind) => void planned.set(nth, kind),
  };
};

/** Makes every call without a fault. */
export const untouched: Around = (_call, effect) => effect();
