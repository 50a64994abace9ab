import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { BusEvent } from "../../lib/local/bus-records.ts";
import { type LocalBus, openLocalBus } from "../../lib/local/local-bus.ts";
import type { BusEntry } from "../../lib/ports/bus.ts";
import type { LogFields } from "../../lib/ports/log.ts";
import { type ReopenableStore, storeKinds } from "../support/durable-stores.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { silentLog } from "../support/silent-log.ts";
import { createVirtualClock, type VirtualClock } from "../support/virtual-clock.ts";

const entry = (name: string): BusEntry => ({
  detailType: "TaskFinished",
  detail: { name, nested: { state: "FINISHED" } },
  time: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  groupId: "task",
  deduplicationId: name,
});

const nameOf = (event: BusEvent): unknown => event.detail.name;

/** A handler that notes the names of what it gets and rejects those it is told to. */
const createNotingHandler = (...rejected: readonly string[]) => {
  const names: unknown[] = [];
  const refusing = new Set<unknown>(rejected);
  return {
    names,
    refusing,
    handler: async (event: BusEvent): Promise<void> => {
      names.push(nameOf(event));
      if (refusing.has(nameOf(event))) throw new Error("not now");
    },
  };
};

describe.each(storeKinds)("the local bus, $storeName", ({ createStore }) => {
  let store: ReopenableStore;
  let clock: VirtualClock;
  let logged: { message: string; fields: LogFields | undefined }[];
  let bus: LocalBus;
  const random = createSeededRandom();

  /** Opens the bus; whoever had it open before counts as killed. */
  const open = async (): Promise<LocalBus> =>
    openLocalBus({
      map: (await store.open()).map("events"),
      clock,
      random,
      log: { ...silentLog, warn: (message, fields) => logged.push({ message, fields }) },
      source: "skyhook",
    });

  beforeEach(async () => {
    store = await createStore();
    clock = createVirtualClock();
    logged = [];
    bus = await open();
    const { remove } = store;
    onTestFinished(async () => {
      await bus.stop();
      await remove();
    });
  });

  test("hands an entry on in the envelope of EventBridge", async () => {
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

  test("hands any number of entries on in the order of publishing, which EventBridge does not promise", async () => {
    const { handler, names } = createNotingHandler();
    bus.subscribe(handler);
    bus.start();
    const published = Array.from({ length: 23 }, (_, index) => `entry ${index}`);

    await bus.publish(published.map(entry));

    await expect.poll(() => names).toEqual(published);
  });

  test("answers when an entry is stored, without waiting for its handlers", async () => {
    bus.subscribe(() => clock.sleep(60_000));
    bus.start();

    expect(await bus.publish([entry("a")])).toEqual([{ kind: "published" }]);

    await clock.advance(60_000);
  });

  test("gives a slow subscriber one event after the other and lets the others go on", async () => {
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

  test("gives a rejected event again after 1, 2, 4 seconds and on, without holding up the next", async () => {
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

  test("does not give an event again to the subscriber that had it", async () => {
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

  test("keeps what one handler does to its event from the others", async () => {
    const { handler, names } = createNotingHandler();
    bus.subscribe(async (event) => {
      event.detail = { name: "changed" };
    });
    bus.subscribe(handler);
    bus.start();

    await bus.publish([entry("a")]);

    await expect.poll(() => names).toEqual(["a"]);
  });

  test("stores what is published before it starts, and then delivers it in order", async () => {
    const { handler, names } = createNotingHandler();
    bus.subscribe(handler);

    await bus.publish([entry("a")]);
    await bus.publish([entry("b")]);
    expect(names).toEqual([]);
    bus.start();

    await expect.poll(() => names).toEqual(["a", "b"]);
  });

  test("gives undelivered events again, in order, after its process was killed", async () => {
    const before = createNotingHandler("b", "c");
    bus.subscribe(before.handler);
    bus.start();
    await bus.publish([entry("a"), entry("b"), entry("c")]);
    await expect.poll(() => before.names).toEqual(["a", "b", "c"]);
    await bus.stop();

    bus = await open();
    const after = createNotingHandler();
    bus.subscribe(after.handler);
    bus.start();
    await bus.publish([entry("d")]);

    await expect.poll(() => after.names).toEqual(["b", "c", "d"]);
  });

  test("gives no event again, after its process was killed, that every subscriber had", async () => {
    const first = createNotingHandler();
    const second = createNotingHandler("b");
    bus.subscribe(first.handler);
    bus.subscribe(second.handler);
    bus.start();
    await bus.publish([entry("a"), entry("b")]);
    await expect
      .poll(() => [first.names, second.names])
      .toEqual([
        ["a", "b"],
        ["a", "b"],
      ]);
    await bus.stop();

    bus = await open();
    const after = createNotingHandler();
    bus.subscribe(after.handler);
    bus.start();

    await expect.poll(() => after.names).toEqual(["b"]);
  });

  test("waits, when it is stopped, for the handler that runs and begins no other", async () => {
    const ended: unknown[] = [];
    bus.subscribe(async (event) => {
      await clock.sleep(1000);
      ended.push(nameOf(event));
    });
    bus.start();
    await bus.publish([entry("a"), entry("b")]);

    const stopped = bus.stop();
    await clock.advance(1000);
    await stopped;
    await clock.advance(1000);

    expect(ended).toEqual(["a"]);
  });

  test("starts no handler any more once it is stopped", async () => {
    const { handler, names } = createNotingHandler("a");
    bus.subscribe(handler);
    bus.start();
    await bus.publish([entry("a")]);
    await expect.poll(() => names).toEqual(["a"]);

    await bus.stop();
    await clock.advance(3_600_000);

    expect(names).toEqual(["a"]);
  });
});
