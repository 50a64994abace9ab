import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { acceptKey, refuseKey } from "../../../lib/provider/api-key.ts";
import { newRateLimit, pauseRequests, type RateLimit } from "../../../lib/provider/rate-limit.ts";
import { ask, PER_WINDOW, START } from "./rate-limit-requests.ts";

const anyMs = fc.integer({ min: 0, max: 6_000 });
const anyStep = fc.oneof(
  fc.record({
    kind: fc.constant("ask" as const),
    atMs: anyMs,
    wanted: fc.integer({ min: 1, max: 50 }),
    hasNewKey: fc.boolean(),
    atLeast: fc.integer({ min: 1, max: PER_WINDOW }),
  }),
  fc.record({ kind: fc.constant("block" as const), atMs: anyMs, forMs: anyMs }),
  fc.record({
    kind: fc.constantFrom("refuse" as const, "accept" as const),
    atMs: anyMs,
    sentMs: anyMs,
  }),
);
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

const run = (
  steps: readonly Step[],
  check: (before: RateLimit, after: RateLimit, step: Step) => void,
) => {
  let rateLimit = newRateLimit("acme");
  for (const step of steps) {
    const before = rateLimit;
    const now = START + step.atMs;
    if (step.kind === "ask") rateLimit = ask(rateLimit, step.atMs, step.wanted, step).rateLimit;
    else if (step.kind === "block")
      rateLimit = pauseRequests(rateLimit, { now, until: now + step.forMs });
    else {
      const answer = { now, sentAt: START + step.sentMs };
      rateLimit = (step.kind === "refuse" ? refuseKey : acceptKey)(rateLimit, answer);
    }
    check(before, rateLimit, step);
  }
  return rateLimit;
};

describe("in any order of steps, with clocks that differ", () => {
  test("no window grants more than the rate limit, and windows and pauses never move back", () => {
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

  test("a pause blocks all permits; a refused key allows half-open probes and new keys only", () => {
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

  test("refusals and acceptances alternate, each published once with its own id", () => {
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
