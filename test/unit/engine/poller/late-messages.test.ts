import { beforeEach, describe, expect, test } from "vitest";
import { handleMessage } from "../../../../lib/engine/message-handler.ts";
import { readMessage } from "../../../../lib/engine/queue-message.ts";
import { startProvider } from "../../../support/provider.ts";
import { updatePolicy } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

/*
 * The messages of a burst take minutes. The poller cannot know that a message still waits in the queue, so it sends
 * another one, which the functions have to read too.
 */

const MINUTES_MS = 16 * 60_000;
/** After 30 s, then each time after as long as the messages before took; every 30 s they would be 32. */
const MOST = 8;
const LEAST = 5;

/** A world in which no message is delivered, and the account grants permits when the test says so. */
const open = async () => {
  const state = { sent: 0, isReady: false };
  const world = await createWorld({
    provider: startProvider,
    accounts: {
      local: {
        ready: async () =>
          state.isReady
            ? { kind: "ready" }
            : { kind: "wait", until: world.clock.now() + 1_000, because: "budget-spent" },
      },
    },
    around: async (call, effect) => {
      if (call.name !== "queue.send") return effect();
      state.sent += 1;
      return undefined as Awaited<ReturnType<typeof effect>>;
    },
  });
  return { world, state };
};

describe("a command without a message gets ever fewer of them", () => {
  let opened: Awaited<ReturnType<typeof open>>;
  beforeEach(async () => {
    opened = await open();
  });

  /** Messages that the poller sends in the next minutes. */
  const sentLater = async (): Promise<number> => {
    const { world, state } = opened;
    const before = state.sent;
    const endsAt = world.clock.now() + MINUTES_MS;
    while (world.clock.now() < endsAt) {
      await world.poll(1);
      await world.clock.advance(5_000);
    }
    return state.sent - before;
  };

  test("after a wait for permits", async () => {
    await opened.world.handle(updatePolicy("c1"));

    const sent = await sentLater();

    expect(sent).toBeGreaterThanOrEqual(LEAST);
    expect(sent).toBeLessThanOrEqual(MOST);
  });

  test("and at least one in ten minutes", async () => {
    const { world, state } = opened;
    await world.handle(updatePolicy("c1"));
    await sentLater();
    await sentLater();
    const before = state.sent;

    await sentLater();

    // One or two in 16 minutes.
    expect(state.sent - before).toBeGreaterThanOrEqual(1);
    expect(state.sent - before).toBeLessThanOrEqual(2);
  });

  test("and the second one 30 s after the first, however late that was", async () => {
    const { world, state } = opened;
    await world.handle(updatePolicy("c1"));
    await world.clock.advance(60 * 60_000);
    await world.poll(1);
    const first = state.sent;

    await world.clock.advance(29_000);
    await world.poll(1);
    const tooEarly = state.sent;
    await world.clock.advance(1_000);
    await world.poll(1);

    expect({ first, tooEarly, second: state.sent }).toEqual({ first: 1, tooEarly: 1, second: 2 });
  });

  test("after its acceptance in an invocation without time for an attempt", async () => {
    const { deps } = opened.world.newInvocation();
    const body = JSON.stringify(updatePolicy("c1"));
    const time = { signal: new AbortController().signal, has: () => false };
    await handleMessage(deps, readMessage(body, deps), body, time);

    const sent = await sentLater();

    expect((await opened.world.command("c1"))?.state.status).toBe("accepted");
    expect(sent).toBeGreaterThanOrEqual(LEAST);
    expect(sent).toBeLessThanOrEqual(MOST);
  });

  test("after the lane was handed over to it", async () => {
    const { world, state } = opened;
    await world.handle(updatePolicy("c1"));
    await world.handle(updatePolicy("c2"));
    state.isReady = true;
    await world.clock.advance(2_000);
    await world.handle(updatePolicy("c1"));

    const sent = await sentLater();

    expect((await world.command("c1"))?.state.status).toBe("succeeded");
    expect((await world.command("c2"))?.state.status).toBe("waiting");
    expect(sent).toBeGreaterThanOrEqual(LEAST);
    expect(sent).toBeLessThanOrEqual(MOST);
  });
});
