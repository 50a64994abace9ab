import { expect, test } from "vitest";
import * as z from "zod";
import { outboxEvent, outboxKind, outboxSchema } from "../../../lib/ledger/outbox.ts";
import type { BusEntry } from "../../../lib/platform/ports/bus.ts";
import { createRecordingLog } from "../../support/logs.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";

const kind = outboxKind({
  kind: "test",
  schema: z.object({ outbox: outboxSchema, changes: z.int() }),
  expiresAt: () => undefined,
});

const eventAt = (time: number) =>
  outboxEvent({
    detailType: "AiTaskVanished",
    identity: [String(time)],
    subject: "s",
    time,
    correlationId: "c",
    causationId: "c",
    data: { taskId: "t", missingSince: new Date(time).toISOString() },
  });

const open = async (times: readonly number[]) => {
  const ledger = createMemoryLedger();
  const taken: number[] = [];
  const log = createRecordingLog();
  let refused: readonly number[] = [];
  const bus = {
    publish: async (entries: readonly BusEntry[]) =>
      entries.map(({ time }) => {
        if (refused.includes(time)) return { kind: "failed", code: "x", message: "" } as const;
        taken.push(time);
        return { kind: "published" } as const;
      }),
  };
  await kind.write(ledger, "k", undefined, { outbox: times.map(eventAt), changes: 0 });
  return {
    ledger,
    taken,
    log,
    publish: () => kind.publish({ ledger, bus, log }, "k"),
    publishOrLeave: () => kind.publishOrLeave({ ledger, bus, log }, "k"),
    refuse: (...of: readonly number[]) => {
      refused = of;
    },
    dueAt: async () => (await ledger.read("test#k"))?.dueAt,
  };
};

test("a record is due a little after its last change while an event of it is unpublished", async () => {
  const { dueAt } = await open([1_000, 3_000, 2_000]);

  expect(await dueAt()).toBe(8_000);
});

test("events are published in order, and then nothing is due", async () => {
  const { publish, taken, dueAt } = await open([1_000, 3_000, 2_000]);

  await publish();
  await publish();

  expect(taken).toEqual([1_000, 3_000, 2_000]);
  expect(await dueAt()).toBeUndefined();
});

test("events that the bus did not take cause an error, stay due, and are published again alone", async () => {
  const { publish, refuse, taken, dueAt } = await open([1_000, 2_000]);
  refuse(2_000);

  await expect(publish()).rejects.toThrow("the bus did not take every event of test#k");
  const due = await dueAt();
  refuse();
  await publish();

  expect(due).toBe(7_000);
  expect(taken).toEqual([1_000, 2_000]);
  expect(await dueAt()).toBeUndefined();
});

test("an event that is added while others are published stays", async () => {
  const { ledger, publish, taken, dueAt } = await open([1_000]);
  const [read, ...write] = [ledger.read, ledger.write];
  let isFirst = true;
  Object.assign(ledger, {
    async write(item: Parameters<(typeof write)[0]>[0]) {
      if (isFirst) {
        isFirst = false;
        await kind.change(ledger, "k", (value) => ({
          changes: 1,
          outbox: [...(value?.outbox ?? []), eventAt(9_000)],
        }));
      }
      return write[0](item);
    },
    read,
  });

  await expect(publish()).rejects.toThrow("did not take every event");

  expect(taken).toEqual([1_000]);
  expect(await dueAt()).toBe(14_000);
});

test("a record that does not exist has nothing to publish", async () => {
  const { ledger, log } = await open([]);
  const deps = { ledger, bus: { publish: async () => [] }, log };

  await expect(kind.publish(deps, "none")).resolves.toBeUndefined();
});

test("publishOrLeave publishes what the bus takes", async () => {
  const { publishOrLeave, taken, log, dueAt } = await open([1_000]);

  await publishOrLeave();

  expect(taken).toEqual([1_000]);
  expect(await dueAt()).toBeUndefined();
  expect(log.lines).toEqual([]);
});

test("publishOrLeave does not fail on events that cannot be published, and they stay due", async () => {
  const { publishOrLeave, refuse, taken, log, dueAt } = await open([1_000, 2_000]);
  refuse(2_000);

  await expect(publishOrLeave()).resolves.toBeUndefined();

  expect(taken).toEqual([1_000]);
  expect(await dueAt()).toBe(7_000);
  expect(log.lines).toContainEqual({
    level: "warn",
    message: "events not published, they stay due",
    fields: { key: "test#k", errorMessage: "the bus did not take every event of test#k" },
  });
});
