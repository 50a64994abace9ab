import type { CommandQueue, Waker } from "../../../../lib/platform/ports/queue.ts";
import type { Sandbox } from "../cloud/sandbox.ts";
import type { Chance } from "../engine/chance.ts";

const KINDS = ["send fails", "send answer lost"];
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

/** Wake signals are messages of a standard queue and may arrive late. */
export const hostileWaker = (waker: Waker, sandbox: Sandbox, chance: Chance): Waker => ({
  wakeAt: (at) =>
    send(sandbox, ["waker.wakeAt", [...KINDS, "wake late"]], (kind, place) => {
      const lateMs = kind === "wake late" ? chance.between(`late ${place}`, 1_000, MAX_LATE_MS) : 0;
      return waker.wakeAt(at + lateMs);
    }),
});
