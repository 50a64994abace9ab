import type { CommandQueue, Waker } from "../../../../lib/platform/ports/queue.ts";
import type { Sandbox } from "../cloud/sandbox.ts";
import type { Chance } from "../engine/chance.ts";

const KINDS = ["send fails", "send answer lost"];
const MAX_LATE_MS = 60_000;

/** Sends that fail, or that arrive and do not seem to. */
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

/** Wakes are a standard queue's messages: they may take their time. */
export const hostileWaker = (waker: Waker, sandbox: Sandbox, chance: Chance): Waker => ({
  wakeAt: (at) =>
    send(sandbox, ["waker.wakeAt", [...KINDS, "wake late"]], (kind, place) => {
      const lateMs = kind === "wake late" ? chance.between(`late ${place}`, 1_000, MAX_LATE_MS) : 0;
      return waker.wakeAt(at + lateMs);
    }),
});
