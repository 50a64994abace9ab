/** One call of a port, by one invocation of a function. */
interface PortCall {
  readonly name: string;
  readonly invocation: number;
}

/**
 * Stands around every port call of a test world.
 * @param effect what the call does; with a limit, only that many entries of it
 */
export type Around = <T>(call: PortCall, effect: (limit?: number) => Promise<T>) => Promise<T>;

export type FaultKind =
  /** The invocation dies instead of making the call: nothing of it runs on. */
  | "killed"
  /** The invocation dies after the first entry of the call took effect. */
  | "killed half-way"
  /** The call fails without effect, and the invocation goes on. */
  | "fails before"
  /** The call takes effect, its answer is lost, and the invocation goes on. */
  | "fails after"
  /** The first entry takes effect, the others fail, and the invocation goes on. */
  | "fails half-way";

/** What a call of an invocation that was killed ends with; none of them has an effect. */
class Killed extends Error {
  override readonly name = "Killed";
}

/** What a call that was made to fail ends with. */
class InjectedFault extends Error {
  override readonly name = "InjectedFault";
}

export interface Faults {
  readonly around: Around;
  /** Every call so far, by name. */
  readonly calls: readonly string[];
  /** Lets the nth call (from 1) over all invocations go wrong. */
  strike(nth: number, kind: FaultKind): void;
}

export const createFaults = (): Faults => {
  const calls: string[] = [];
  const killed = new Set<number>();
  let plan: { readonly nth: number; readonly kind: FaultKind } | undefined;

  const strikeNow = async <T>(
    kind: FaultKind,
    invocation: number,
    effect: (limit?: number) => Promise<T>,
  ): Promise<T> => {
    if (kind === "fails after") await effect();
    if (kind === "fails half-way" || kind === "killed half-way") await effect(1);
    if (kind !== "killed" && kind !== "killed half-way") throw new InjectedFault(kind);
    killed.add(invocation);
    throw new Killed(kind);
  };

  return {
    calls,
    async around(call, effect) {
      if (killed.has(call.invocation)) throw new Killed("runs no more");
      const nth = calls.push(call.name);
      if (plan?.nth === nth) return strikeNow(plan.kind, call.invocation, effect);
      const answer = await effect();
      // Another branch of the same invocation may have been killed in the meantime.
      if (killed.has(call.invocation)) throw new Killed("runs no more");
      return answer;
    },
    strike(nth, kind) {
      plan = { nth, kind };
    },
  };
};

/** Nothing goes wrong. */
export const untouched: Around = (_call, effect) => effect();
