import { beforeEach, describe, expect, test } from "vitest";
import type { LocalBus } from "../../../lib/local/local-bus.ts";
import { storeKinds } from "../../support/durable-stores.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";
import { type BusWorld, createBusWorld, createNotingHandler, entry, nameOf } from "./bus-world.ts";

describe.each(storeKinds)(
  "the local bus, $storeName, over start, stop and kill",
  ({ createStore }) => {
    let bus: LocalBus;
    let clock: VirtualClock;
    let reopen: BusWorld["reopen"];

    beforeEach(async () => {
      ({ bus, clock, reopen } = await createBusWorld(createStore));
    });

    test("stores events published before its start, and then delivers them in order", async () => {
      const { handler, names } = createNotingHandler();
      bus.subscribe(handler);

      await bus.publish([entry("a")]);
      await bus.publish([entry("b")]);
      expect(names).toEqual([]);
      bus.start();

      await expect.poll(() => names).toEqual(["a", "b"]);
    });

    test("delivers undelivered events in order after a kill", async () => {
      const before = createNotingHandler("b", "c");
      bus.subscribe(before.handler);
      bus.start();
      await bus.publish([entry("a"), entry("b"), entry("c")]);
      await expect.poll(() => before.names).toEqual(["a", "b", "c"]);
      await bus.stop();

      bus = await reopen();
      const after = createNotingHandler();
      bus.subscribe(after.handler);
      bus.start();
      await bus.publish([entry("d")]);

      await expect.poll(() => after.names).toEqual(["b", "c", "d"]);
    });

    test("does not repeat after a kill an event that every subscriber handled", async () => {
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

      bus = await reopen();
      const after = createNotingHandler();
      bus.subscribe(after.handler);
      bus.start();

      await expect.poll(() => after.names).toEqual(["b"]);
    });

    test("waits at its stop for the running handler and starts no other", async () => {
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

    test("starts no handler after its stop", async () => {
      const { handler, names } = createNotingHandler("a");
      bus.subscribe(handler);
      bus.start();
      await bus.publish([entry("a")]);
      await expect.poll(() => names).toEqual(["a"]);

      await bus.stop();
      await clock.advance(3_600_000);

      expect(names).toEqual(["a"]);
    });
  },
);
