import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  acceptKey,
  blockBudget,
  grantTokens,
  newBudget,
  refuseKey,
} from "../../lib/ledger/budget.ts";

type Budget = ReturnType<typeof newBudget>;

const START = Date.UTC(2026, 0, 1);
const PER_WINDOW = 20;

const ask = (budget: Budget, atMs: number, wanted: number, hasNewKey = false) =>
  grantTokens(budget, { now: START + atMs, wanted, perWindow: PER_WINDOW, hasNewKey });

const wait = (untilMs: number, because: string) => ({
  kind: "wait",
  until: START + untilMs,
  because,
});

describe("a grant", () => {
  test("is half of what is left at most, and one at least, until nothing is left", () => {
    const tokens: unknown[] = [];
    let budget = newBudget("acme");

    for (let asks = 0; asks < 8; asks += 1) {
      const step = ask(budget, 400, 100);
      budget = step.budget;
      tokens.push(step.grant.kind === "granted" ? step.grant.tokens : step.grant);
    }

    expect(tokens).toEqual([
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
    expect(ask(newBudget("acme"), 0, 3).grant).toMatchObject({ tokens: 3 });
  });

  test("dies with its window, whenever in it it was given", () => {
    expect(ask(newBudget("acme"), 2_999, 1).grant).toMatchObject({ expiresAt: START + 3_000 });
  });

  test("that a clock gives that is behind comes from the window that others are in", () => {
    const { budget } = ask(newBudget("acme"), 5_000, 10);

    const late = ask(budget, 3_500, 10);

    expect(late.budget).toMatchObject({ windowStartedAt: START + 5_000, granted: 15 });
    expect(late.grant).toMatchObject({ tokens: 5, expiresAt: START + 4_000 });
  });
});

describe("a block", () => {
  test("holds every grant back until its end, those with a new key too", () => {
    const blocked = blockBudget(newBudget("acme"), START + 7_500);

    expect(ask(blocked, 7_499, 1).grant).toEqual(wait(7_500, "paused"));
    expect(ask(blocked, 0, 1, true).grant).toEqual(wait(7_500, "paused"));
    expect(ask(blocked, 7_500, 1).grant).toMatchObject({ kind: "granted" });
  });

  test("is not shortened by another one", () => {
    const blocked = blockBudget(newBudget("acme"), START + 7_500);

    expect(blockBudget(blocked, START + 2_000)).toBe(blocked);
  });
});

describe("a refused key", () => {
  const refused = refuseKey(newBudget("acme"), { now: START, sentAt: START });

  test("leaves one request every thirty seconds, whoever asks and for however many", () => {
    const early = ask(refused, 29_999, 5);
    const probe = ask(refused, 30_000, 5);
    const after = ask(probe.budget, 59_999, 5);

    expect(early.grant).toEqual(wait(30_000, "key-refused"));
    expect(probe.grant).toMatchObject({ kind: "granted", tokens: 1 });
    expect(after.grant).toEqual(wait(60_000, "key-refused"));
    expect(ask(probe.budget, 60_000, 5).grant).toMatchObject({ tokens: 1 });
  });

  test("does not hold requests with a new key back", () => {
    const step = ask(refused, 100, 3, true);

    expect(step.grant).toMatchObject({ kind: "granted", tokens: 3 });
    expect(step.budget.key).toEqual(refused.key);
  });

  test("is told of once, with a name that follows from its time", () => {
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

  test("that is taken again is not refused by an answer to a request that left before that", () => {
    const accepted = acceptKey(refused, { now: START + 500, sentAt: START + 400 });

    expect(accepted.key).toEqual({ state: "accepted", since: START + 500 });
    expect(refuseKey(accepted, { now: START + 600, sentAt: START + 499 })).toBe(accepted);
  });
});

test("a second refusal has a later name than the first, although its clock is behind", () => {
  const refused = refuseKey(newBudget("acme"), { now: START, sentAt: START });
  const accepted = acceptKey(refused, { now: START + 500, sentAt: START + 400 });

  const again = refuseKey(accepted, { now: START - 2_000, sentAt: START + 500 });

  expect(again.key).toMatchObject({ state: "refused", since: START + 501 });
});

const anyMs = fc.integer({ min: 0, max: 6_000 });
const anyStep = fc.oneof(
  fc.record({
    kind: fc.constant("ask" as const),
    atMs: anyMs,
    wanted: fc.integer({ min: 1, max: 50 }),
    hasNewKey: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("block" as const), atMs: anyMs, forMs: anyMs }),
  fc.record({
    kind: fc.constantFrom("refuse" as const, "accept" as const),
    atMs: anyMs,
    sentMs: anyMs,
  }),
);
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

const run = (steps: readonly Step[], look: (before: Budget, after: Budget, step: Step) => void) => {
  let budget = newBudget("acme");
  for (const step of steps) {
    const before = budget;
    const now = START + step.atMs;
    if (step.kind === "ask") budget = ask(budget, step.atMs, step.wanted, step.hasNewKey).budget;
    else if (step.kind === "block") budget = blockBudget(budget, now + step.forMs);
    else {
      const answer = { now, sentAt: START + step.sentMs };
      budget = (step.kind === "refuse" ? refuseKey : acceptKey)(budget, answer);
    }
    look(before, budget, step);
  }
  return budget;
};

describe("in whatever order things happen, and by however many clocks that differ", () => {
  test("no window grants more than the budget, and none goes back", () => {
    fc.assert(
      fc.property(fc.array(anyStep), (steps) => {
        run(steps, (before, after) => {
          expect(after.granted).toBeLessThanOrEqual(PER_WINDOW);
          expect(after.windowStartedAt).toBeGreaterThanOrEqual(before.windowStartedAt);
          expect(after.blockedUntil).toBeGreaterThanOrEqual(before.blockedUntil);
        });
      }),
    );
  });

  test("nothing is granted in a block, and in a refusal only probes and new keys", () => {
    fc.assert(
      fc.property(fc.array(anyStep), (steps) => {
        run(steps, (before, after, step) => {
          if (step.kind !== "ask" || after === before) return;
          expect(START + step.atMs).toBeGreaterThanOrEqual(before.blockedUntil);
          if (before.key.state === "refused" && !step.hasNewKey) {
            expect(START + step.atMs).toBeGreaterThanOrEqual(before.key.nextProbeAt);
          }
        });
      }),
    );
  });

  test("refusals and acceptances take turns, each told of once under a name of its own", () => {
    fc.assert(
      fc.property(fc.array(anyStep), (steps) => {
        const { outbox } = run(steps, () => {});

        const types = outbox.map(({ detailType }) => detailType);
        expect(types).toEqual(
          types.map((_, index) => (index % 2 === 0 ? "AccountKeyRefused" : "AccountKeyAccepted")),
        );
        expect(new Set(outbox.map(({ deduplicationId }) => deduplicationId)).size).toBe(
          outbox.length,
        );
      }),
    );
  });
});
