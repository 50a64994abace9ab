import type { CommandQueue } from "../../../lib/ports/queue.ts";
import type { Waker } from "../../../lib/ports/waker.ts";
import type { Sandbox } from "../cloud/sandbox.ts";

const KINDS = ["send fails", "send answer lost"];

/** Sends that fail, or that arrive and do not seem to. */
const send = (sandbox: Sandbox, name: string, effect: () => Promise<void>): Promise<void> =>
  sandbox.call(name, KINDS, async (kind) => {
    if (kind === "send fails") throw new Error("send failed");
    await effect();
    if (kind === "send answer lost") throw new Error("no answer to a send");
  });

export const hostileQueue = (queue: CommandQueue, sandbox: Sandbox): CommandQueue => ({
  send: (message) => send(sandbox, "queue.send", () => queue.send(message)),
});

export const hostileWaker = (waker: Waker, sandbox: Sandbox): Waker => ({
  wakeAt: (at) => send(sandbox, "waker.wakeAt", () => waker.wakeAt(at)),
});
