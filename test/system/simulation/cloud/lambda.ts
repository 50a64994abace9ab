import type { Context } from "aws-lambda";
import { lambdaContext } from "../../../../lib/local/aws-events.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import type { VirtualClock } from "../../../support/virtual-clock.ts";
import { type Machine, type Surroundings, startMachine } from "./machines.ts";
import type { Skew } from "./sandbox.ts";

/** The end of an invocation; a killed machine gives neither answer nor error. */
type Ending<T> =
  | { readonly kind: "answered"; readonly answer: T }
  | { readonly kind: "failed" }
  | { readonly kind: "killed" };

/** Runs invocations of one function, each on its own machine while it lasts. */
export interface Lambda {
  invoke<T>(run: (machine: Machine, context: Context) => Promise<T>): Promise<Ending<T>>;
  /** Number of invocations under way. */
  underWay(): number;
}

/** Waits until the invocation exceeds its time limit. A suspended machine's time does not count. */
const untilLate = async (
  { sandbox }: Machine,
  timeline: VirtualClock,
  timeoutMs: number,
  isOver: AbortSignal,
): Promise<void> => {
  const endsAt = timeline.now() + timeoutMs - sandbox.frozenMs();
  const left = (): number => endsAt + sandbox.frozenMs() - timeline.now();
  while (left() > 0 && !isOver.aborted) await timeline.sleep(left(), isOver);
};

/**
 * @param timeoutMs a machine with a longer invocation is killed
 * @param skew clock differences of its machines, if not those of the run
 */
export const createLambda = (
  functionName: string,
  timeoutMs: number,
  surroundings: Surroundings,
  skew?: Skew,
): Lambda => {
  const { timeline } = surroundings;
  const random = createSeededRandom(surroundings.chance.between(`random ${functionName}`, 1, 9999));
  const idle: Machine[] = [];
  let started = 0;
  let underWay = 0;

  const start = (): Machine => {
    started += 1;
    return startMachine(`${functionName}-${started}`, surroundings, skew);
  };

  return {
    underWay: () => underWay,
    async invoke(run) {
      const machine = idle.pop() ?? start();
      const { clock } = machine.sandbox;
      underWay += 1;
      const over = new AbortController();
      const context = lambdaContext(functionName, timeoutMs, { clock, random });
      const work = run(machine, context).then(
        (answer) => ({ kind: "answered", answer }) as const,
        () => ({ kind: "failed" }) as const,
      );
      const late = untilLate(machine, timeline, timeoutMs, over.signal);
      const gone = Promise.race([late, machine.sandbox.death]);
      const ending = await Promise.race([work, gone.then(() => ({ kind: "killed" }) as const)]);
      over.abort();
      underWay -= 1;
      if (ending.kind === "killed") machine.sandbox.kill();
      else if (machine.sandbox.isAlive()) idle.push(machine);
      return ending;
    },
  };
};
