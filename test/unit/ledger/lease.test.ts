import { expect, test } from "vitest";
import { breakLease, takeLease } from "../../../lib/ledger/lease.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const open = () => {
  const deps = { ledger: createMemoryLedger(), clock: createVirtualClock() };
  const take = (by: string) => takeLease(deps, { name: "job", by, durationMs: 10_000 });
  return { ...deps, take };
};

test("one runner at a time holds a lease", async () => {
  const { take } = open();

  expect(await take("a")).toBeDefined();
  expect(await take("b")).toBeUndefined();
});

test("a lease that is released is free at once", async () => {
  const { take } = open();
  const lease = await take("a");

  await lease?.release();

  expect(await take("b")).toBeDefined();
});

test("the lease of a dead holder is free when its time is over", async () => {
  const { clock, take } = open();
  await take("a");

  await clock.advance(9_999);
  const early = await take("b");
  await clock.advance(1);

  expect(early).toBeUndefined();
  expect(await take("b")).toBeDefined();
});

test("a lease that is renewed stays held, with one write for every half of its time", async () => {
  const { ledger, clock, take } = open();
  const lease = await take("a");

  for (let second = 0; second < 60; second += 1) {
    await clock.advance(1_000);
    expect(await lease?.renew()).toBe(true);
  }

  expect(await take("b")).toBeUndefined();
  expect((await ledger.read("lease#job"))?.version).toBe(13);
});

test("a holder that lost its lease notices at the renewal, and leaves the new holder's lease alone", async () => {
  const { clock, take } = open();
  const lost = await take("a");
  await clock.advance(10_000);
  const held = await take("b");

  expect(await lost?.renew()).toBe(false);
  expect(await lost?.renew()).toBe(false);
  await lost?.release();
  expect(await held?.renew()).toBe(true);
  expect(await take("c")).toBeUndefined();
});

test("a lease can be broken when its holder is known to be dead", async () => {
  const { ledger, take } = open();
  await breakLease(ledger, "job");
  await take("a");

  await breakLease(ledger, "job");

  expect(await take("b")).toBeDefined();
});

test("a lease that another runner took after a failed renewal is not held", async () => {
  const { ledger, clock, take } = open();
  const lease = await take("a");
  await clock.advance(6_000);
  const write = ledger.write;
  Object.assign(ledger, { write: () => Promise.reject(new Error("away")) });
  await expect(lease?.renew()).rejects.toThrow("away");
  Object.assign(ledger, { write });
  await clock.advance(4_000);
  await take("b");

  expect(await lease?.renew()).toBe(false);
});

test("a released lease is not held any more", async () => {
  const { take } = open();
  const lease = await take("a");

  await lease?.release();

  expect(await lease?.renew()).toBe(false);
});

test("a renewal that takes longer than the lease lasts does not hold it", async () => {
  const { ledger, clock, take } = open();
  const lease = await take("a");
  await clock.advance(6_000);
  const write = ledger.write;
  Object.assign(ledger, {
    write: async (...item: Parameters<typeof write>) => {
      const written = await write(...item);
      await clock.advance(10_000);
      return written;
    },
  });

  expect(await lease?.renew()).toBe(false);
});
