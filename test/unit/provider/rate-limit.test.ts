import { describe, expect, test } from "vitest";
import { acceptKey, refuseKey } from "../../../lib/provider/api-key.ts";
import { newRateLimit, pauseRequests, rateLimits } from "../../../lib/provider/rate-limit.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { ask, block, PER_WINDOW, START } from "./rate-limit-requests.ts";

const wait = (untilMs: number, because: string) => ({
  kind: "wait",
  until: START + untilMs,
  because,
});

describe("a grant", () => {
  test("is at most half of the remaining permits, and at least one, until the window is used up", () => {
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

  test("is never more than wanted", () => {
    expect(ask(newRateLimit("acme"), 0, 3).grant).toMatchObject({ permits: 3 });
  });

  test("expires with its window", () => {
    expect(ask(newRateLimit("acme"), 2_999, 1).grant).toMatchObject({ expiresAt: START + 3_000 });
  });

  test("to a process with a slow clock comes from the window of the other processes", () => {
    const { rateLimit } = ask(newRateLimit("acme"), 5_000, 10);

    const late = ask(rateLimit, 3_500, 10);

    expect(late.rateLimit).toMatchObject({ windowStartedAt: START + 5_000, granted: 15 });
    expect(late.grant).toMatchObject({ permits: 5, expiresAt: START + 4_000 });
  });
});

describe("a grant with a minimum", () => {
  test("is the whole minimum, even if that is more than half", () => {
    const { rateLimit } = ask(newRateLimit("acme"), 0, 14, { atLeast: 14 });

    expect(ask(rateLimit, 0, 8, { atLeast: 6 }).grant).toMatchObject({ permits: 6 });
  });

  test("waits for the next window and takes no permit if fewer remain", () => {
    const { rateLimit } = ask(newRateLimit("acme"), 0, 16, { atLeast: 16 });

    const step = ask(rateLimit, 300, 5, { atLeast: 5 });

    expect(step.grant).toEqual(wait(1_000, "budget-spent"));
    expect(step.rateLimit).toBe(rateLimit);
  });
});

describe("a pause", () => {
  test("blocks all permits until its end, also for requests with a new key", () => {
    const blocked = block(newRateLimit("acme"), 7_500);

    expect(ask(blocked, 7_499, 1).grant).toEqual(wait(7_500, "paused"));
    expect(ask(blocked, 0, 1, { hasNewKey: true }).grant).toEqual(wait(7_500, "paused"));
    expect(ask(blocked, 7_500, 1).grant).toMatchObject({ kind: "granted" });
  });

  test("is not shortened by a shorter pause", () => {
    const blocked = block(newRateLimit("acme"), 7_500);

    expect(block(blocked, 2_000)).toBe(blocked);
  });
});

describe("a refused key", () => {
  const refused = refuseKey(newRateLimit("acme"), { now: START, sentAt: START });

  test("allows one half-open probe every thirty seconds", () => {
    const early = ask(refused, 29_999, 5);
    const probe = ask(refused, 30_000, 5);
    const after = ask(probe.rateLimit, 59_999, 5);

    expect(early.grant).toEqual(wait(30_000, "key-refused"));
    expect(probe.grant).toMatchObject({ kind: "granted", permits: 1 });
    expect(after.grant).toEqual(wait(60_000, "key-refused"));
    expect(ask(probe.rateLimit, 60_000, 5).grant).toMatchObject({ permits: 1 });
  });

  test("does not block requests with a new key", () => {
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

  test("is not accepted by the response to a request from before the refusal", () => {
    expect(acceptKey(refused, { now: START + 500, sentAt: START })).toBe(refused);
  });

  test("that was accepted again is not refused by the response to an earlier request", () => {
    const accepted = acceptKey(refused, { now: START + 500, sentAt: START + 400 });

    expect(accepted.key).toEqual({ state: "accepted", since: START + 500 });
    expect(refuseKey(accepted, { now: START + 600, sentAt: START + 499 })).toBe(accepted);
  });
});

describe("an expired half-open probe", () => {
  const refused = refuseKey(newRateLimit("acme"), { now: START, sentAt: START });
  const { rateLimit, grant } = ask(refused, 30_000, 1);
  const expiredProbe = grant.kind === "granted" ? grant.probe : undefined;

  test("is granted again to its owner, and the next interval begins then", () => {
    const again = ask(rateLimit, 31_100, 1, { expiredProbe });

    expect(again.grant).toMatchObject({ permits: 1, expiresAt: START + 32_000 });
    expect(ask(again.rateLimit, 61_099, 1).grant).toEqual(wait(61_100, "key-refused"));
  });

  test("is not granted to another process", () => {
    expect(ask(rateLimit, 31_100, 1).grant).toEqual(wait(60_000, "key-refused"));
  });

  test("is invalid after another process has got the next one", () => {
    const later = ask(rateLimit, 60_000, 1);

    expect(ask(later.rateLimit, 61_000, 1, { expiredProbe }).grant).toEqual(
      wait(90_000, "key-refused"),
    );
  });
});

describe("a time written by a clock that was a day ahead", () => {
  const DAY_MS = 86_400_000;
  const ahead = { now: START + DAY_MS, sentAt: START + DAY_MS };

  test("is not used as the window", () => {
    const { rateLimit } = ask(newRateLimit("acme"), DAY_MS, PER_WINDOW, { atLeast: PER_WINDOW });

    const step = ask(rateLimit, 60_000, 3);

    expect(step.grant).toMatchObject({ permits: 3, expiresAt: START + 61_000 });
    expect(step.rateLimit).toMatchObject({ windowStartedAt: START + 60_000, granted: 3 });
  });

  test("does not pause other processes, and does not hide a new pause", () => {
    const blocked = pauseRequests(newRateLimit("acme"), {
      ...ahead,
      until: START + DAY_MS + 1_000,
    });

    expect(ask(blocked, 0, 1).grant).toMatchObject({ kind: "granted" });
    expect(ask(block(blocked, 5_000), 0, 1).grant).toEqual(wait(5_000, "paused"));
  });

  test("does not delay the half-open probe or the acceptance of the key", () => {
    const refused = refuseKey(newRateLimit("acme"), ahead);

    const probe = ask(refused, 0, 1);
    const accepted = acceptKey(probe.rateLimit, { now: START + 10, sentAt: START });

    expect(probe.grant).toMatchObject({ kind: "granted", permits: 1 });
    expect(accepted.key).toEqual({ state: "accepted", since: START + 10 });
  });

  test("does not hide a later refusal", () => {
    const refused = refuseKey(newRateLimit("acme"), ahead);
    const accepted = acceptKey(refused, { now: ahead.now, sentAt: ahead.now + 1 });

    const again = refuseKey(accepted, { now: START + 10, sentAt: START });

    expect(again.key).toMatchObject({ state: "refused", since: START + 10 });
  });
});

test("a stored pause without blockedAt lasts until its end", async () => {
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

test("the newest twenty events are kept while the bus is down", () => {
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

test("a second refusal by a slow clock has a later time than the first", () => {
  const refused = refuseKey(newRateLimit("acme"), { now: START, sentAt: START });
  const accepted = acceptKey(refused, { now: START + 500, sentAt: START + 400 });

  const again = refuseKey(accepted, { now: START - 2_000, sentAt: START + 500 });

  expect(again.key).toMatchObject({ state: "refused", since: START + 501 });
});
