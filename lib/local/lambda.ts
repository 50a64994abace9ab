import type { Context } from "aws-lambda";
import { deployment, type FunctionName, timeoutMsOf } from "../platform/deployment.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import type { Skyhook } from "../skyhook.ts";
import { lambdaContext } from "./aws-events.ts";

/**
 * An execution environment of one function, which the driver of the cloud makes. It runs one invocation at a
 * time, keeps its caches between them, and is never used again after its death.
 */
export interface Machine {
  /** Unique in the run, such as `run-commands-3`. */
  readonly name: string;
  /** Time as this machine sees it, which may differ from the time of the cloud. */
  readonly clock: Clock;
  /** The functions over the ports of this machine. After its death, a port call must have no effect. */
  readonly skyhook: Skyhook;
  /** Aborts when the machine is killed. */
  readonly death: AbortSignal;
  /** Kills the machine: aborts `death`. Lambda calls it at the time limit of an invocation. */
  kill(): void;
  /** Time that the machine has been suspended, like a closed laptop, ms. It extends time limits. */
  suspendedMs(): number;
}

/**
 * A machine that nothing can kill: an invocation over its time limit runs to its own end. Several invocations
 * may share it.
 */
export const createImmortalMachine = (
  parts: Pick<Machine, "name" | "clock" | "skyhook">,
): Machine => ({
  ...parts,
  death: new AbortController().signal,
  kill: () => {},
  suspendedMs: () => 0,
});

/** End of an invocation; a killed machine gives neither answer nor error. */
export type Ending<T> =
  | { readonly kind: "answered"; readonly answer: T }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "killed" };

/** Work of one invocation on the machine that Lambda has chosen. */
type Work<M extends Machine, T> = (machine: M, context: Context) => Promise<T>;

/** A function on Lambda. Each invocation has a machine of its own: a free one, or else a new one. */
export interface Lambda<M extends Machine> {
  /** Invokes once. Never rejects. */
  invoke<T>(work: Work<M, T>): Promise<Ending<T>>;
  /**
   * Calls asynchronously: repeats a failed invocation as often as `deployment.json` says. Resolves to whether
   * an invocation answered; also when the cloud stops before that.
   */
  call(work: Work<M, unknown>): Promise<boolean>;
  /** Number of invocations under way. */
  underWay(): number;
  /** Number of asynchronous calls under way or waiting for a retry. */
  pendingCalls(): number;
  /** Resolves when no invocation is under way. */
  idle(): Promise<void>;
}

export interface LambdaOptions<M extends Machine> {
  /** In the names of machines and in contexts of invocations. */
  readonly name: string;
  /** A machine with a longer invocation is killed. */
  readonly timeoutMs: number;
  /** Retries of an asynchronous call; absent: none. */
  readonly retries?: { readonly attempts: number; readonly maxAgeMs: number } | undefined;
  /** Starts a machine with this name. */
  readonly startMachine: (name: string) => M;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends waits for retries. */
  readonly stopping: AbortSignal;
}

/** Lambda's pauses before the retries of an asynchronous call. AWS Lambda developer guide, "Error handling". */
const RETRY_PAUSES_MS = [60_000, 120_000];

/** Given to `abort`, which otherwise builds an error with a stack. */
const OVER = "the invocation is over";

/** Kills the machine when the invocation exceeds its limit. */
const killAtLimit = async (
  machine: Machine,
  { clock, timeoutMs }: Pick<LambdaOptions<Machine>, "clock" | "timeoutMs">,
  isOver: AbortSignal,
): Promise<void> => {
  const endsAt = clock.now() + timeoutMs - machine.suspendedMs();
  const leftMs = (): number => endsAt + machine.suspendedMs() - clock.now();
  while (leftMs() > 0 && !isOver.aborted) await clock.sleep(leftMs(), isOver);
  if (!isOver.aborted) machine.kill();
};

/** The first of both: the end of the work, or the death of the machine. */
const endOf = <T>(work: Promise<T>, death: AbortSignal): Promise<Ending<T>> =>
  new Promise((resolve) => {
    const end = (ending: Ending<T>): void => {
      death.removeEventListener("abort", die);
      resolve(ending);
    };
    const die = (): void => end({ kind: "killed" });
    death.addEventListener("abort", die);
    if (death.aborted) die();
    work.then(
      (answer) => end({ kind: "answered", answer }),
      (error: unknown) => end({ kind: "failed", error }),
    );
  });

export const createLambda = <M extends Machine>(options: LambdaOptions<M>): Lambda<M> => {
  const { name, timeoutMs, startMachine, clock, random, stopping } = options;
  const { attempts, maxAgeMs } = options.retries ?? { attempts: 0, maxAgeMs: 0 };
  const free: M[] = [];
  const underWay = new Set<Promise<unknown>>();
  let started = 0;
  let pendingCalls = 0;

  const takeMachine = (): M => {
    for (let machine = free.pop(); machine; machine = free.pop()) {
      if (!machine.death.aborted) return machine;
    }
    started += 1;
    return startMachine(`${name}-${started}`);
  };

  const invoke = async <T>(work: Work<M, T>): Promise<Ending<T>> => {
    const machine = takeMachine();
    const { clock, death } = machine;
    const over = new AbortController();
    const context = lambdaContext(name, timeoutMs, { clock, random });
    void killAtLimit(machine, options, over.signal);
    const end = endOf(work(machine, context), death);
    underWay.add(end);
    const ending = await end;
    underWay.delete(end);
    over.abort(OVER);
    if (!death.aborted) free.push(machine);
    return ending;
  };

  const call = async (work: Work<M, unknown>): Promise<boolean> => {
    const giveUpAt = clock.now() + maxAgeMs;
    if ((await invoke(work)).kind === "answered") return true;
    for (const pauseMs of RETRY_PAUSES_MS.slice(0, attempts)) {
      await clock.sleep(pauseMs, stopping);
      if (stopping.aborted || clock.now() >= giveUpAt) return false;
      if ((await invoke(work)).kind === "answered") return true;
    }
    return false;
  };

  return {
    invoke,
    async call(work) {
      pendingCalls += 1;
      try {
        return await call(work);
      } finally {
        pendingCalls -= 1;
      }
    },
    underWay: () => underWay.size,
    pendingCalls: () => pendingCalls,
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
};

/** Time limit and retries of a deployed function, by `deployment.json`. */
export const numbersOf = (
  name: FunctionName,
): Pick<LambdaOptions<Machine>, "timeoutMs" | "retries"> => {
  const numbers = deployment.functions[name];
  return {
    timeoutMs: timeoutMsOf(name),
    ...("retryAttempts" in numbers && {
      retries: { attempts: numbers.retryAttempts, maxAgeMs: numbers.eventAgeSeconds * 1_000 },
    }),
  };
};
