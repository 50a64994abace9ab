import { describe, expect, test } from "vitest";
import {
  acceptKey,
  newRateLimit,
  pauseRequests,
  rateLimits,
  refuseKey,
} from "../../../lib/provider/rate-limit.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { ask, block, PER_WINDOW, START } from "./rate-limit-requests.ts";

const wait = (untilMs: number, because: string) => ({
  kind: "wait",
  until: START + untilMs,
  because,
});

describe("a grant", () => {
  test("is half of what is left at most, and one at least, until nothing is left", () => {
    const permits: unknown[] = [];
    let rateLimit = newRateLimit("acme");

    for (let asks = 0; asks < 8; asks += 1) {
      const step = ask(rateLimit, 400, 100);
      rateLimit = step.rateLimit;
      permits.push(step.grant.kind === "granted" ? step.grant.permits : step.grant);
    }

    expect(permits).toEqual([
      10,
      5,
      2,
      1,
      1,
      1,
      wait(1_000, "budget-spent"),
      wait(1_000, "budget-spent"),
    ]);
  });

  test("is no more than what is wanted", () => {
    expect(ask(newRateLimit("acme"), 0, 3).grant).toMatchObject({ permits: 3 });
  });

  test("dies with its window, whenever in it it was given", () => {
    expect(ask(newRateLimit("acme"), 2_999, 1).grant).toMatchObject({ expiresAt: START + 3_000 });
  });

  test("by a slow clock comes from the window that other processes are in", () => {
    const { rateLimit } = ask(newRateLimit("acme"), 5_000, 10);

    const late = ask(rateLimit, 3_500, 10);

    expect(late.rateLimit).toMatchObject({ windowStartedAt: START + 5_000, granted: 15 });
    expect(late.grant).toMatchObject({ permits: 5, expiresAt: START + 4_000 });
  });
});

describe("a grant of several that are of use only together", () => {
  test("is all of them at once, although that is more than half", () => {
    const { rateLimit } = ask(newRateLimit("acme"), 0, 14, { atLeast: 14 });

    expect(ask(rateLimit, 0, 8, { atLeast: 6 }).grant).toMatchObject({ permits: 6 });
  });

  test("waits for the next window where there are not so many, and takes none", () => {
    const { rateLimit } = ask(newRateLimit("acme"), 0, 16, { atLeast: 16 });

    const step = ask(rateLimit, 300, 5, { atLeast: 5 });

    expect(step.grant).toEqual(wait(1_000, "budget-spent"));
    expect(step.rateLimit).toBe(rateLimit);
  });
});

describe("a block", () => {
  test("holds every grant back until its end, those with a new key too", () => {
    const blocked = block(newRateLimit("acme"), 7_500);

    expect(ask(blocked, 7_499, 1).grant).toEqual(wait(7_500, "paused"));
    expect(ask(blocked, 0, 1, { hasNewKey: true }).grant).toEqual(wait(7_500, "paused"));
    expect(ask(blocked, 7_500, 1).grant).toMatchObject({ kind: "granted" });
  });

  test("is not shortened by another one", () => {
    const blocked = block(newRateLimit("acme"), 7_500);

    expect(block(blocked, 2_000)).toBe(blocked);
  });
});

describe("a refused key", () => {
  const refused = refuseKey(newRateLimit("acme"), { now: START, sentAt: START });

  test("allows one half-open probe every thirty seconds, however many requests ask", () => {
    const early = ask(refused, 29_999, 5);
    const probe = ask(refused, 30_000, 5);
    const after = ask(probe.rateLimit, 59_999, 5);

    expect(early.grant).toEqual(wait(30_000, "key-refused"));
    expect(probe.grant).toMatchObject({ kind: "granted", permits: 1 });
    expect(after.grant).toEqual(wait(60_000, "key-refused"));
    expect(ask(probe.rateLimit, 60_000, 5).grant).toMatchObject({ permits: 1 });
  });

  test("does not hold requests with a new key back", () => {
    const step = ask(refused, 100, 3, { hasNewKey: true });

    expect(step.grant).toMatchObject({ kind: "granted", permits: 3 });
    expect(step.rateLimit.key).toEqual(refused.key);
  });

  test("is published once, with an id derived from its time", () => {
    const again = refuseKey(refused, { now: START + 500, sentAt: START + 400 });

    expect(again).toBe(refused);
    expect(refused.outbox).toMatchObject([
      {
        detailType: "AccountKeyRefused",
        time: START,
        groupId: "accounts/acme",
        detail: {
          metadata: {
            account: "acme",
            correlationId: "accounts/acme/key-refused/2026-01-01T00:00:00.000Z",
          },
          data: { since: "2026-01-01T00:00:00.000Z" },
        },
      },
    ]);
  });

  test("is not taken again because of an answer to a request that left before the refusal", () => {
    expect(acceptKey(refused, { now: START + 500, sentAt: START })).toBe(refused);
  });

  test("that is accepted again is not refused by the response to an earlier request", () => {
    const accepted = acceptKey(refused, { now: START + 500, sentAt: START + 400 });

    expect(accepted.key).toEqual({ state: "accepted", since: START + 500 });
    expect(refuseKey(accepted, { now: START + 600, sentAt: START + 499 })).toBe(accepted);
  });
});

describe("a half-open probe that was granted and not used in time", () => {
  const refused = refuseKey(newRateLimit("acme"), { now: START, sentAt: START });
  const { rateLimit, grant } = ask(refused, 30_000, 1);
  const expiredProbe = grant.kind === "granted" ? grant.probe : undefined;

  test("is granted again to the process that has it, and thirty seconds count from then", () => {
    const again = ask(rateLimit, 31_100, 1, { expiredProbe });

    expect(again.grant).toMatchObject({ permits: 1, expiresAt: START + 32_000 });
    expect(ask(again.rateLimit, 61_099, 1).grant).toEqual(wait(61_100, "key-refused"));
  });

  test("is not granted to another process", () => {
    expect(ask(rateLimit, 31_100, 1).grant).toEqual(wait(60_000, "key-refused"));
  });

  test("is invalid after another process has sent one", () => {
    const later = ask(rateLimit, 60_000, 1);

    expect(ask(later.rateLimit, 61_000, 1, { expiredProbe }).grant).toEqual(
      wait(90_000, "key-refused"),
    );
  });
});

describe("what a clock wrote that was a day ahead once", () => {
  const DAY_MS = 86_400_000;
  const ahead = { now: START + DAY_MS, sentAt: START + DAY_MS };

  test("is no window for the others", () => {
    const { rateLimit } = ask(newRateLimit("acme"), DAY_MS, PER_WINDOW, { atLeast: PER_WINDOW });

    const step = ask(rateLimit, 60_000, 3);

    expect(step.grant).toMatchObject({ permits: 3, expiresAt: START + 61_000 });
    expect(step.rateLimit).toMatchObject({ windowStartedAt: START + 60_000, granted: 3 });
  });

  test("does not pause the other processes, which may record a pause of their own", () => {
    const blocked = pauseRequests(newRateLimit("acme"), {
      ...ahead,
      until: START + DAY_MS + 1_000,
    });

    expect(ask(blocked, 0, 1).grant).toMatchObject({ kind: "granted" });
    expect(ask(block(blocked, 5_000), 0, 1).grant).toEqual(wait(5_000, "paused"));
  });

  test("is no refusal that keeps the others from asking, or from seeing the key accepted", () => {
    const refused = refuseKey(newRateLimit("acme"), ahead);

    const probe = ask(refused, 0, 1);
    const accepted = acceptKey(probe.rateLimit, { now: START + 10, sentAt: START });

    expect(probe.grant).toMatchObject({ kind: "granted", permits: 1 });
    expect(accepted.key).toEqual({ state: "accepted", since: START + 10 });
  });

  test("is no acceptance that hides a refusal", () => {
    const refused = refuseKey(newRateLimit("acme"), ahead);
    const accepted = acceptKey(refused, { now: ahead.now, sentAt: ahead.now + 1 });

    const again = refuseKey(accepted, { now: START + 10, sentAt: START });

    expect(again.key).toMatchObject({ state: "refused", since: START + 10 });
  });
});

test("a pause stored without its time lasts until its end", async () => {
  const ledger = createMemoryLedger();
  const { blockedAt: _, ...value } = block(newRateLimit("acme"), 86_400_000);
  await ledger.write({
    key: "budget#acme",
    version: 1,
    dueAt: undefined,
    expiresAt: undefined,
    value: JSON.parse(JSON.stringify(value)),
  });

  const stored = await rateLimits.read(ledger, "acme");

  expect(stored && ask(stored.value, 0, 1).grant).toEqual(wait(86_400_000, "paused"));
});

test("of events that cannot be published the newest twenty are kept, the latest among them", () => {
  let rateLimit = newRateLimit("acme");
  for (let flap = 1; flap <= 500; flap += 1) {
    const now = START + flap * 30_000;
    rateLimit = refuseKey(rateLimit, { now, sentAt: now });
    rateLimit = acceptKey(rateLimit, { now: now + 10, sentAt: now + 10 });
  }

  expect(rateLimit.outbox).toHaveLength(20);
  expect(rateLimit.outbox.at(-1)).toMatchObject({
    detailType: "AccountKeyAccepted",
    time: START + 500 * 30_000 + 10,
  });
  expect(rateLimit.outbox[0]).toMatchObject({ time: START + 491 * 30_000 });
});

test("a second refusal has a later name than the first, although its clock is behind", () => {
  const refused = refuseKey(newRateLimit("acme"), { now: START, sentAt: START });
  const accepted = acceptKey(refused, { now: START + 500, sentAt: START + 400 });

  const again = refuseKey(accepted, { now: START - 2_000, sentAt: START + 500 });

  expect(again.key).toMatchObject({ state: "refused", since: START + 501 });
});
