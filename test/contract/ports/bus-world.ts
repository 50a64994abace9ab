import { onTestFinished } from "vitest";
import type { BusEvent } from "../../../lib/local/local-bus.ts";
import { type LocalBus, openLocalBus } from "../../../lib/local/local-bus.ts";
import type { BusEntry } from "../../../lib/platform/ports/bus.ts";
import type { LogFields } from "../../../lib/platform/ports/log.ts";
import type { ReopenableStore } from "../../support/durable-stores.ts";
import { silentLog } from "../../support/logs.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

export const entry = (name: string): BusEntry => ({
  detailType: "TaskFinished",
  detail: { name, nested: { state: "FINISHED" } },
  time: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  groupId: "task",
  deduplicationId: name,
});

export const nameOf = (event: BusEvent): unknown => event.detail.name;

/** A handler that records the names of its events and rejects those in the list. */
export const createNotingHandler = (...rejected: readonly string[]) => {
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

/** A local bus on virtual time, until the test ends. */
export const createBusWorld = async (createStore: () => Promise<ReopenableStore>) => {
  const store = await createStore();
  const clock = createVirtualClock();
  const random = createSeededRandom();
  const logged: { message: string; fields: LogFields | undefined }[] = [];
  let opened: LocalBus | undefined;
  /** Opens the bus. An earlier instance counts as killed. */
  const reopen = async (): Promise<LocalBus> => {
    opened = await openLocalBus({
      map: (await store.open()).map("events"),
      clock,
      random,
      log: { ...silentLog, warn: (message, fields) => logged.push({ message, fields }) },
      source: "skyhook",
    });
    return opened;
  };
  const bus = await reopen();
  onTestFinished(async () => {
    await opened?.stop();
    await store.remove();
  });
  return { bus, clock, logged, reopen };
};

export type BusWorld = Awaited<ReturnType<typeof createBusWorld>>;
