import { expect, test } from "vitest";
import * as z from "zod";
import { recordKind } from "../../../lib/ledger/record.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";

const counts = recordKind({
  kind: "count",
  schema: z.object({ count: z.int(), dueAt: z.int().optional() }),
  dueAt: ({ dueAt }) => dueAt,
  keepsEntry: (_, dueAt) => [dueAt - 10, dueAt + 5],
});
const plusOne = ({ count }: { count: number }) => ({ count: count + 1 });

const start = async () => {
  const store = createMemoryLedger();
  let reads = 0;
  const ledger: Ledger = {
    ...store,
    read: (key) => {
      reads += 1;
      return store.read(key);
    },
  };
  const first = await counts.write(ledger, "a", undefined, { count: 1, dueAt: 100 });
  return { ledger, first: first!, reads: () => reads };
};

test("an item that is known is changed without a read", async () => {
  const { ledger, first, reads } = await start();

  const second = await counts.update(ledger, "a", plusOne, first);

  expect(second).toMatchObject({ version: 2, value: { count: 2 } });
  expect(reads()).toBe(0);
});

test("an item that another writer has changed meanwhile is read, and its newest value is changed", async () => {
  const { ledger, first } = await start();
  await counts.update(ledger, "a", plusOne);

  const third = await counts.update(ledger, "a", plusOne, first);

  expect(third).toMatchObject({ version: 3, value: { count: 3 } });
});

test("that nothing is to be changed is read, not taken from what is known", async () => {
  const { ledger, first } = await start();
  await counts.update(ledger, "a", plusOne);
  const once = (value: { count: number }) => (value.count === 2 ? { count: 20 } : value);

  const changed = await counts.update(ledger, "a", once, first);

  expect(changed.value.count).toBe(20);
});

test("an item that is known to be absent is created without a read, unless it was created meanwhile", async () => {
  const { ledger, reads } = await start();
  const next = (value: { count: number } | undefined) => ({ count: (value?.count ?? 0) + 1 });

  const created = await counts.change(ledger, "b", next, "absent");
  const readsOfCreated = reads();
  const changed = await counts.change(ledger, "b", next, "absent");

  expect([created.value.count, readsOfCreated]).toEqual([1, 0]);
  expect([changed.value.count, reads()]).toEqual([2, 1]);
});

test.each([
  [95, 100],
  [100, 100],
  [110, 100],
  [94, 94],
  [111, 111],
  [undefined, undefined],
])("an entry at 100 of an item that is due at %s is then at %s", async (dueAt, entry) => {
  const { ledger, first } = await start();

  const stored = await counts.update(ledger, "a", () => ({ count: 2, dueAt }), first);
  const read = await counts.read(ledger, "a");

  expect([stored.dueAt, read?.dueAt]).toEqual([entry, entry]);
});
