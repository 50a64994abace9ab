import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { AiTaskRecord } from "../../../../lib/service/state/ai-tasks.ts";
import { aiTask, idOf } from "./ai-provider.ts";
import { watchedWorld } from "./start-watching.ts";

/** 2026-01-01T00:00:00Z, the start of the virtual clock and of the baseline. */
const START = Date.UTC(2026, 0, 1);
/** No change happens during the baseline, which takes some time. */
const QUIET_MS = 30_000;
const COURSE_MS = 600_000;
const ROUND_MS = 60_000;
const HOUR = 3_600_000;

interface Life {
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly end: { readonly at: number; readonly status: AiTaskRecord["status"] } | undefined;
  readonly removedAt: number | undefined;
}

const instant = fc.oneof(
  fc.integer({ min: -1_000_000, max: -1 }),
  fc.integer({ min: QUIET_MS, max: COURSE_MS }),
);

/** Four instants in order, and the change at each. */
const life = fc
  .record({
    instants: fc
      .tuple(instant, instant, instant, instant)
      .map((all) => all.toSorted((a, b) => a - b)),
    course: fc.constantFrom("succeeds", "fails", "is revoked", "is revoked unstarted", "continues"),
    isRemoved: fc.boolean(),
  })
  .map(({ instants, course, isRemoved }): Life => {
    const [created = 0, started = 0, ended = 0, removed = 0] = instants;
    const isStarted = course !== "is revoked unstarted";
    const status = course === "succeeds" ? "SUCCESS" : course === "fails" ? "FAILURE" : "REVOKED";
    const hasEnd = course !== "continues";
    return {
      createdAt: created,
      startedAt: isStarted ? started : undefined,
      end: hasEnd ? { at: ended, status } : undefined,
      // Other tasks move up at any time. A task that ends stays listed until a full read has seen it.
      removedAt: isRemoved && (!hasEnd || ended < 0) ? removed : undefined,
    };
  });

const recordAt = (n: number, { startedAt, end }: Life, at: number): AiTaskRecord => {
  const isStarted = startedAt !== undefined && startedAt <= at;
  const status = isStarted ? "STARTED" : "PENDING";
  return aiTask(n, end && end.at <= at ? end.status : status, {
    started_at: isStarted ? new Date(START + startedAt).toISOString() : null,
  });
};

const tasksAt = (lives: readonly Life[], at: number): AiTaskRecord[] =>
  lives.flatMap((one, n) =>
    one.createdAt <= at && at < (one.removedAt ?? Number.POSITIVE_INFINITY)
      ? [recordAt(n, one, at)]
      : [],
  );

const course = fc.record({
  lives: fc.array(life, { maxLength: 14 }),
  pageCap: fc.integer({ min: 1, max: 6 }),
  requestsPerSecond: fc.constantFrom(2, 5, Number.POSITIVE_INFINITY),
  runsAtOnce: fc.integer({ min: 1, max: 2 }),
});

const endsToPublish = (lives: readonly Life[]): readonly string[] =>
  lives.flatMap(({ end }, n) => (end && end.at > 0 ? [idOf(n)] : []));

test("exactly the ends after the baseline are published, each once, by the next full read at the latest", async () => {
  await fc.assert(
    fc.asyncProperty(course, async ({ lives, pageCap, requestsPerSecond, runsAtOnce }) => {
      const { world, provider } = watchedWorld((now) => tasksAt(lives, now - START));
      provider.capPages(pageCap);
      await world.run({ requestsPerSecond });

      while (world.clock.now() < START + COURSE_MS + ROUND_MS) {
        const nextAt = world.clock.now() + ROUND_MS;
        const runs = Array.from({ length: runsAtOnce }, () => world.run({ requestsPerSecond }));
        expect(await Promise.all(runs)).toEqual(runs.map(() => undefined));
        await world.clock.advance(Math.max(0, nextAt - world.clock.now()));
      }
      await world.clock.advance(HOUR);
      await world.run({ requestsPerSecond });

      expect(world.publishedEnds().toSorted()).toEqual(endsToPublish(lives));
    }),
    { numRuns: 60 },
  );
});
