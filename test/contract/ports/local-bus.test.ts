import { beforeEach, describe, expect, test } from "vitest";
import type { BusEvent, LocalBus } from "../../../lib/local/local-bus.ts";
import { storeKinds } from "../../support/durable-stores.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";
import { type BusWorld, createBusWorld, createNotingHandler, entry, nameOf } from "./bus-world.ts";

describe.each(storeKinds)("the local bus, $storeName", ({ createStore }) => {
  let bus: LocalBus;
  let clock: VirtualClock;
  let logged: BusWorld["logged"];

  beforeEach(async () => {
    ({ bus, clock, logged } = await createBusWorld(createStore));
  });

  test("delivers an entry in the envelope of EventBridge", async () => {
    const events: BusEvent[] = [];
    bus.subscribe(async (event) => {
      events.push(event);
    });
    bus.start();

    await bus.publish([entry("a")]);

    await expect
      .poll(() => events)
      .toEqual([
        {
          version: "0",
          id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
          "detail-type": "TaskFinished",
          source: "skyhook",
          account: "000000000000",
          time: "2026-01-02T03:04:05Z",
          region: "us-east-1",
          resources: [],
          detail: { name: "a", nested: { state: "FINISHED" } },
        },
      ]);
  });

  test("delivers any number of entries in the order of publishing, unlike EventBridge", async () => {
    const { handler, names } = createNotingHandler();
    bus.subscribe(handler);
    bus.start();
    const published = Array.from({ length: 23 }, (_, index) => `entry ${index}`);

    await bus.publish(published.map(entry));

    await expect.poll(() => names).toEqual(published);
  });

  test("resolves when an entry is stored, without waiting for handlers", async () => {
    bus.subscribe(() => clock.sleep(60_000));
    bus.start();

    expect(await bus.publish([entry("a")])).toEqual([{ kind: "published" }]);

    await clock.advance(60_000);
  });

  test("delivers one event at a time to a slow subscriber without delaying others", async () => {
    const begun: unknown[] = [];
    let finish = (): void => undefined;
    const isFinished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const fast = createNotingHandler();
    bus.subscribe(async (event) => {
      begun.push(nameOf(event));
      await isFinished;
    });
    bus.subscribe(fast.handler);
    bus.start();

    await bus.publish([entry("a"), entry("b")]);
    await bus.publish([entry("c")]);
    await expect.poll(() => fast.names).toEqual(["a", "b", "c"]);
    expect(begun).toEqual(["a"]);

    finish();
    await expect.poll(() => begun).toEqual(["a", "b", "c"]);
  });

  test("repeats a rejected event after 1, 2, 4 seconds and so on, without delaying the next", async () => {
    const { handler, names, refusing } = createNotingHandler("a");
    bus.subscribe(handler);
    bus.start();

    await bus.publish([entry("a"), entry("b")]);
    await expect.poll(() => names).toEqual(["a", "b"]);
    await clock.advance(999);
    expect(names).toEqual(["a", "b"]);
    await clock.advance(1);
    await expect.poll(() => names).toEqual(["a", "b", "a"]);
    refusing.clear();
    await clock.advance(1999);
    expect(names).toEqual(["a", "b", "a"]);
    await clock.advance(1);
    await expect.poll(() => names).toEqual(["a", "b", "a", "a"]);

    await clock.advance(3_600_000);
    expect(names).toEqual(["a", "b", "a", "a"]);
    expect(logged).toMatchObject([
      { message: "event not delivered", fields: { attempt: 1, retryInMs: 1000 } },
      { message: "event not delivered", fields: { attempt: 2, retryInMs: 2000 } },
    ]);
  });

  test("does not repeat an event for a subscriber that handled it", async () => {
    const healthy = createNotingHandler();
    const sick = createNotingHandler("a");
    bus.subscribe(healthy.handler);
    bus.subscribe(sick.handler);
    bus.start();

    await bus.publish([entry("a")]);
    await expect.poll(() => sick.names).toEqual(["a"]);
    await clock.advance(1000);
    await expect.poll(() => sick.names).toEqual(["a", "a"]);

    expect(healthy.names).toEqual(["a"]);
  });

  test("isolates the event of one handler from the others", async () => {
    const { handler, names } = createNotingHandler();
    bus.subscribe(async (event) => {
      event.detail = { name: "changed" };
    });
    bus.subscribe(handler);
    bus.start();

    await bus.publish([entry("a")]);

    await expect.poll(() => names).toEqual(["a"]);
  });
});
