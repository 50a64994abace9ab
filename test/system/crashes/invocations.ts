import { setImmediate as letOthersRun } from "node:timers/promises";
import type { FunctionName } from "../../../lib/platform/deployment.ts";
import type { Call } from "../../support/watched-ports.ts";
import type { Parts } from "./parts.ts";
import { openSandbox, type Sandbox } from "./sandbox.ts";

/** Turns of the event loop without a port call, after which all work waits for time. */
const CALM_TURNS = 3;

/** Outcome of an invocation; `lost` when its sandbox was killed. */
export type End =
  | { readonly kind: "answered"; readonly answer: unknown }
  | { readonly kind: "failed" | "lost" };

type OnEnd = (end: End, sandbox: number) => Promise<void>;

interface Invocation {
  readonly sandbox: Sandbox;
  readonly onEnd: OnEnd;
  end?: End;
}

/** Starts invocations, each in a free or new sandbox, and reports their ends. */
export const createInvocations = (parts: Parts) => {
  const { faults } = parts;
  const running = new Set<Invocation>();
  let idle: readonly Sandbox[] = [];
  let opened = 0;
  let callsUnderWay = 0;

  const callOf =
    (invocation: number): Call =>
    async (name, effect) => {
      callsUnderWay += 1;
      try {
        return await faults.around({ name, invocation }, effect);
      } finally {
        callsUnderWay -= 1;
      }
    };

  const takeSandbox = (name: FunctionName): Sandbox => {
    const free = idle.find((sandbox) => sandbox.name === name);
    idle = idle.filter((sandbox) => sandbox !== free);
    if (free) return free;
    opened += 1;
    return openSandbox(parts, opened, name, callOf(opened));
  };

  const run = async (invocation: Invocation, event: unknown): Promise<void> => {
    try {
      const answer = await invocation.sandbox.invoke(event);
      invocation.end = { kind: "answered", answer };
    } catch {
      invocation.end = { kind: "failed" };
    }
  };

  const endOf = ({ sandbox, end }: Invocation): End | undefined =>
    faults.isDead(sandbox.id) ? { kind: "lost" } : end;

  return {
    callOf,
    areRunning: (): boolean => running.size > 0,
    start(name: FunctionName, event: unknown, onEnd: OnEnd): void {
      const invocation = { sandbox: takeSandbox(name), onEnd };
      running.add(invocation);
      void run(invocation, event);
    },
    /** Lets all work continue that needs no time, and handles ended invocations. */
    async settle(): Promise<void> {
      for (let calm = 0; calm < CALM_TURNS; calm += 1) {
        await letOthersRun();
        if (callsUnderWay > 0) calm = -1;
      }
      for (const invocation of running) {
        const end = endOf(invocation);
        if (!end) continue;
        running.delete(invocation);
        await invocation.onEnd(end, invocation.sandbox.id);
        if (!faults.isDead(invocation.sandbox.id)) idle = [...idle, invocation.sandbox];
      }
    },
  };
};

export type Invocations = ReturnType<typeof createInvocations>;
