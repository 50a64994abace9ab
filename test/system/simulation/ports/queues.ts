import type { CommandQueue, Waker } from "../../../../lib/platform/ports/queue.ts";
import type { VirtualClock } from "../../../support/virtual-clock.ts";
import { HANGS, type Sandbox } from "../cloud/sandbox.ts";
import type { Chance } from "../engine/chance.ts";
import type { Plan } from "../plan/plan.ts";

const KINDS = ["send fails", "send answer lost", ...HANGS];
const MAX_LATE_MS = 60_000;

/** A send that fails, or that arrives without an answer. */
const send = (
  sandbox: Sandbox,
  [name, kinds]: readonly [name: string, kinds: readonly string[]],
  effect: (kind: string | undefined, place: string) => Promise<void>,
): Promise<void> =>
  sandbox.call(name, kinds, async (kind, place) => {
    if (kind === "send fails") throw new Error("send failed");
    await effect(kind, place);
    if (kind === "send answer lost") throw new Error("no answer to a send");
  });

export const hostileQueue = (queue: CommandQueue, sandbox: Sandbox): CommandQueue => ({
  send: (message) => send(sandbox, ["queue.send", KINDS], () => queue.send(message)),
});

interface WakerSurroundings {
  readonly timeline: VirtualClock;
  readonly chance: Chance;
  readonly plan: Pick<Plan, "wakesMs">;
}

/**
 * Wake signals are messages of a standard queue and may arrive late. Their delay is a number of whole seconds by
 * the clock of the machine, as lib/platform/aws/sqs-queues.ts computes it.
 */
export const hostileWaker = (
  waker: Waker,
  sandbox: Sandbox,
  { timeline, chance, plan: { wakesMs = 1 } }: WakerSurroundings,
): Waker => ({
  wakeAt: (at, shard) =>
    send(sandbox, ["waker.wakeAt", [...KINDS, "wake late"]], (kind, place) => {
      const lateMs = kind === "wake late" ? chance.between(`late ${place}`, 1_000, MAX_LATE_MS) : 0;
      const delaySeconds = Math.max(0, Math.ceil((at - sandbox.clock.now()) / 1_000));
      const visibleAt = timeline.now() + delaySeconds * 1_000 + lateMs;
      return waker.wakeAt(Math.ceil(visibleAt / wakesMs) * wakesMs, shard);
    }),
});
