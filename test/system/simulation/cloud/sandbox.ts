import type { Clock } from "../../../../lib/platform/ports/clock.ts";
import type { Chance } from "../engine/chance.ts";
import type { Faults } from "../engine/faults.ts";
import type { Timeline } from "../engine/timeline.ts";

/** What can happen to a machine at any call of a port. */
const MACHINE_KINDS = [
  "killed before",
  "killed after",
  "slow before",
  "slow after",
  "clock jump",
  "frozen",
];

/** One machine that runs invocations of a function, one at a time, until it is killed. */
export interface Sandbox {
  readonly name: string;
  /** Shows the machine's own time. */
  readonly clock: Clock;
  isAlive(): boolean;
  /** Resolves when it is killed. */
  readonly death: Promise<void>;
  /** Whether its clock has not only gone, but jumped. */
  hasJumped(): boolean;
  /** For how long it has stood still, as a laptop that was closed: its clock goes on, it does not. */
  frozenMs(): number;
  /** Nothing of it runs on: what it waits for never comes. */
  kill(): void;
  /**
   * Makes a call of a port.
   * @param kinds what can go wrong with this port, beside what can happen to the machine
   * @param effect makes the call, told what goes wrong with it
   */
  call<T>(
    name: string,
    kinds: readonly string[],
    effect: (kind: string | undefined, place: string) => Promise<T>,
  ): Promise<T>;
}

/** How wrong the clock of a machine is when it starts, and how wrong it may become by jumps, ms. */
export interface Skew {
  readonly first: number;
  readonly most: number;
}

interface SandboxDeps {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly faults: Faults;
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

export const createSandbox = (
  name: string,
  { timeline, chance, faults }: SandboxDeps,
  skew: Skew,
): Sandbox => {
  let alive = true;
  let die = (): void => {};
  const death = new Promise<void>((resolve) => {
    die = resolve;
  });
  let skewMs = chance.between(`skew ${name}`, -skew.first, skew.first);

  let frozenUntil = 0;
  let frozenMs = 0;

  /** Nothing happens on a machine that stands still, or is dead. */
  const pass = async (durationMs: number, signal?: AbortSignal): Promise<void> => {
    if (durationMs > 0) await timeline.sleep(durationMs, signal);
    while (timeline.now() < frozenUntil) await timeline.sleep(frozenUntil - timeline.now());
    if (!alive) await never();
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

  const kill = (): void => {
    alive = false;
    die();
  };

  return {
    name,
    clock: {
      now: () => timeline.now() + skewMs,
      sleep: pass,
    },
    isAlive: () => alive,
    death,
    hasJumped: () => jumped,
    frozenMs: () => frozenMs,
    kill,
    async call(callName, kinds, effect) {
      if (!alive) return never();
      const { place, kind } = faults.visit(callName, [...MACHINE_KINDS, ...kinds]);
      const slowMs = chance.between(`slow ${place}`, 1_000, 20_000);
      if (kind === "clock jump") jump(place);
      if (kind === "frozen") freeze(place);
      if (kind === "killed before") kill();
      await pass(kind === "slow before" ? slowMs : 0);
      const answer = timeline.standStill(() => effect(kind, place));
      // Whoever dies does not hear of it, and a rejection has no other listener then.
      answer.catch(() => {});
      await answer.catch(() => {});
      if (kind === "killed after") kill();
      await pass(kind === "slow after" ? slowMs : chance.between(`takes ${place}`, 1, 20));
      return answer;
    },
  };
};
