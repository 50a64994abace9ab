import type { Clock } from "../../../../lib/platform/ports/clock.ts";
import type { VirtualClock } from "../../../support/virtual-clock.ts";
import type { Chance } from "../engine/chance.ts";
import type { Faults } from "../engine/faults.ts";

/** Faults of a machine, possible at each call of a port. */
const MACHINE_KINDS = [
  "killed before",
  "killed after",
  "slow before",
  "slow after",
  "clock jump",
  "frozen",
];

/** Faults of a call to AWS that gets no answer, without and with its effect. */
export const HANGS = ["hangs", "hangs after"];
/** The adapters end it after three attempts of 3 s with pauses, 12 s in all: lib/platform/aws/aws-client.ts. */
const HUNG_MS = [9_000, 12_000] as const;

/** One machine that runs invocations of a function, one at a time, until it is killed. */
export interface Sandbox {
  readonly name: string;
  /** Shows the machine's own time. */
  readonly clock: Clock;
  isAlive(): boolean;
  /** Aborts when it is killed. */
  readonly death: AbortSignal;
  /** Whether its clock has jumped. */
  hasJumped(): boolean;
  /** How long it was suspended, like a closed laptop: its clock continues, its code does not. */
  suspendedMs(): number;
  /** Ends the machine: pending calls never resolve. */
  kill(): void;
  /**
   * Makes a call of a port.
   * @param kinds faults of this port, besides those of the machine
   * @param effect makes the call with the fault that was drawn
   */
  call<T>(
    name: string,
    kinds: readonly string[],
    effect: (kind: string | undefined, place: string) => Promise<T>,
  ): Promise<T>;
}

/** Error of a machine's clock at its start, and the most that jumps can make of it, ms. */
export interface Skew {
  readonly first: number;
  readonly most: number;
}

interface SandboxDeps {
  readonly timeline: VirtualClock;
  readonly chance: Chance;
  readonly faults: Faults;
}

const noAnswer = (): Promise<never> => Promise.reject(new Error("AWS did not answer within 12 s"));

const never = <T>(): Promise<T> => new Promise<T>(() => {});

export const createSandbox = (
  name: string,
  { timeline, chance, faults }: SandboxDeps,
  skew: Skew,
): Sandbox => {
  const death = new AbortController();
  const isAlive = (): boolean => !death.signal.aborted;
  let skewMs = chance.between(`skew ${name}`, -skew.first, skew.first);

  let frozenUntil = 0;
  let frozenMs = 0;

  /** Waits, and longer while the machine is suspended; never resolves on a dead one. */
  const pass = async (durationMs: number, signal?: AbortSignal): Promise<void> => {
    if (durationMs > 0) await timeline.sleep(durationMs, signal);
    while (timeline.now() < frozenUntil) await timeline.sleep(frozenUntil - timeline.now());
    if (!isAlive()) await never();
  };

  const freeze = (place: string): void => {
    const durationMs = chance.between(`frozen ${place}`, 20_000, 300_000);
    frozenMs += durationMs;
    frozenUntil = timeline.now() + durationMs;
  };

  let jumped = false;

  const jump = (place: string): void => {
    jumped = true;
    const next = skewMs + chance.between(`jump ${place}`, -5_000, 5_000);
    skewMs = Math.max(-skew.most, Math.min(skew.most, next));
  };

  const slowMs = (place: string): number => chance.between(`slow ${place}`, 1_000, 20_000);

  /** Time from the effect of a call to its answer. */
  const durationMs = (kind: string | undefined, place: string): number => {
    if (kind === "slow after") return slowMs(place);
    if (kind !== undefined && HANGS.includes(kind))
      return chance.between(`hangs ${place}`, ...HUNG_MS);
    return chance.between(`takes ${place}`, 1, 20);
  };

  const kill = (): void => death.abort("killed");

  const strikeMachine = (kind: string | undefined, place: string): void => {
    if (kind === "clock jump") jump(place);
    if (kind === "frozen") freeze(place);
    if (kind === "killed before") kill();
  };

  return {
    name,
    clock: {
      now: () => timeline.now() + skewMs,
      sleep: pass,
    },
    isAlive,
    death: death.signal,
    hasJumped: () => jumped,
    suspendedMs: () => frozenMs,
    kill,
    async call(callName, kinds, effect) {
      if (!isAlive()) return never();
      const { place, kind } = faults.visit(callName, [...MACHINE_KINDS, ...kinds]);
      strikeMachine(kind, place);
      await pass(kind === "slow before" ? slowMs(place) : 0);
      const answer = kind === "hangs" ? noAnswer() : timeline.standStill(() => effect(kind, place));
      // A killed machine gets no answer, so a rejection would have no other listener.
      answer.catch(() => {});
      await answer.catch(() => {});
      if (kind === "killed after") kill();
      await pass(durationMs(kind, place));
      return kind === "hangs after" ? noAnswer() : answer;
    },
  };
};
