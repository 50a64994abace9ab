/** One call of a port, by one invocation of a function. */
export interface PortCall {
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
  /** The call takes effect, and the invocation dies before it has the answer. */
  | "killed after"
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
  /** The same with whose they are. */
  readonly made: readonly PortCall[];
  /** Lets the nth call (from 1) over all invocations go wrong; others that are to stay so. */
  strike(nth: number, kind: FaultKind): void;
  /** Whether the invocation was killed. */
  isDead(invocation: number): boolean;
}

export const createFaults = (): Faults => {
  const calls: string[] = [];
  const made: PortCall[] = [];
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
    made,
    async around(call, effect) {
      if (killed.has(call.invocation)) throw new Killed("runs no more");
      made.push(call);
      const nth = calls.push(call.name);
      const kind = planned.get(nth);
      if (kind !== undefined) return strikeNow(kind, call.invocation, effect);
      const answer = await effect();
      // Another branch of the same invocation may have been killed in the meantime.
      if (killed.has(call.invocation)) throw new Killed("runs no more");
      return answer;
    },
    strike: (nth, kind) => void planned.set(nth, kind),
    isDead: (invocation) => killed.has(invocation),
  };
};

/** Nothing goes wrong. */
export const untouched: Around = (_call, effect) => effect();
