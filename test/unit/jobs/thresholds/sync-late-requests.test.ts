import { setImmediate as letOthersRun } from "node:timers/promises";
import { expect, test } from "vitest";
import { withIntents, withOutcomes } from "../../../../lib/jobs/thresholds/applied-thresholds.ts";
import {
  beginChanges,
  endChanges,
  type Sync,
} from "../../../../lib/jobs/thresholds/threshold-sync.ts";
import { createThresholdWorld, type ThresholdWorldOptions } from "./threshold-world.ts";

/*
 * Where thresholds cannot be listed: requests without an answer that arrive after requests that were sent
 * later.
 */

const AMBIGUITY_WINDOW_MS = 300_000;
const LEASE_MS = 120_000;
const EMPTY = "prune: true\nthresholds: []\n";
const A_500 =
  "prune: true\nthresholds: [{ name: reaching_used_space, bucket_name: a, bytes: 500 }]\n";
const A_7 = A_500.replace("500", "7");
const EVENT_A = { name: "reaching_used_space", bucket_name: "a", bytes: 500 };

const createBlindWorld = (config: string, options: ThresholdWorldOptions = {}) =>
  createThresholdWorld({ config, account: { canList: false }, ...options });
type World = Awaited<ReturnType<typeof createBlindWorld>>;

/** Runs a sync of which no request arrives yet. */
const syncInVain = async (world: World): Promise<void> => {
  const lost = Array.from({ length: 3 }, () => "the connection breaks before the effect" as const);
  world.faults.strike(...lost);
  await expect(world.sync()).rejects.toThrow("some changes are left");
  world.methods();
};

interface Scenario {
  /** Config at the beginning, which is synced. */
  readonly first: string;
  /** Config after that; its request does not arrive yet. */
  readonly late: string;
  /** Method of that request when it arrives, after a sync of the first config. */
  readonly method: "POST" | "PUT" | "DELETE";
  readonly left: readonly string[];
}

test.each<readonly [string, Scenario]>([
  ["create", { first: EMPTY, late: A_500, method: "POST", left: [] }],
  ["delete", { first: A_500, late: EMPTY, method: "DELETE", left: ["a 500"] }],
  ["new limit", { first: A_7, late: A_500, method: "PUT", left: ["a 7"] }],
])("a %s that arrives after it was revoked does not last", async (_what, scenario) => {
  const world = await createBlindWorld(scenario.first);
  await world.sync();
  world.source.write(scenario.late);
  await syncInVain(world);
  world.source.write(scenario.first);

  await expect(world.sync()).rejects.toThrow("some changes are left");
  await world.atProvider(scenario.method, EVENT_A);
  await world.clock.advance(AMBIGUITY_WINDOW_MS);
  await world.sync();

  expect(await world.actual()).toEqual(
    scenario.left.map((each) => `reaching_used_space - ${each}`),
  );
});

test("a change that may not last is published as left, with the reason", async () => {
  const world = await createBlindWorld(A_500);
  await syncInVain(world);
  world.source.write(EMPTY);

  await expect(world.sync()).rejects.toThrow("some changes are left");

  expect(world.publishedOf("ThresholdsSynced").at(-1)?.data).toMatchObject({
    outcome: "partial",
    counts: { deleted: 0, left: 1 },
    changes: [
      {
        outcome: "left",
        problem: "made, but an earlier request that got no answer may still replace it",
      },
    ],
  });
});

test("the same change again is certain at once", async () => {
  const world = await createBlindWorld(A_500);
  await syncInVain(world);

  await world.sync();
  await world.sync();

  expect(world.methods()).toEqual(["PUT", "POST"]);
  expect(await world.actual()).toEqual(["reaching_used_space - a 500"]);
});

test("a change after the ambiguity window of all earlier requests is certain at once", async () => {
  const world = await createBlindWorld(A_500);
  await syncInVain(world);
  world.source.write(EMPTY);
  await world.clock.advance(AMBIGUITY_WINDOW_MS);

  await world.sync();
  await world.sync();

  expect(world.methods()).toEqual(["DELETE"]);
  expect((await world.remembered())?.applied).toEqual([]);
});

test("a refused change does not alter the remembered thresholds", async () => {
  const world = await createBlindWorld(A_7);
  await world.sync();
  world.source.write(A_500);
  const before = (await world.remembered())?.applied;
  world.faults.strike("is refused");

  await world.sync();

  expect((await world.remembered())?.applied).toEqual(before);
});

test("possible changes of a run that died are undone after their ambiguity window", async () => {
  let isDead = false;
  const world = await createBlindWorld(A_500, {
    around: (call, effect) =>
      isDead && call.name.startsWith("ledger.write") ? Promise.reject(new Error("dead")) : effect(),
  });
  world.meanwhile(async () => {
    isDead = true;
  });
  await expect(world.sync()).rejects.toThrow("dead");
  isDead = false;
  world.source.write(EMPTY);

  await world.clock.advance(LEASE_MS);
  await expect(world.sync()).rejects.toThrow("some changes are left");
  await world.atProvider("POST", EVENT_A);
  await world.clock.advance(AMBIGUITY_WINDOW_MS);
  await world.sync();

  expect(await world.actual()).toEqual([]);
});

test("a create that arrives during a slow sync is deleted by the next one", async () => {
  const world = await createBlindWorld(A_500);
  await syncInVain(world);
  world.source.write(A_500.replace("bucket_name: a", "bucket_name: b"));
  await world.clock.advance(AMBIGUITY_WINDOW_MS - 30_000);
  world.meanwhile(async () => {
    while (!world.requests.some(({ method }) => method === "DELETE")) await letOthersRun();
    await letOthersRun();
    await world.atProvider("POST", EVENT_A);
    await world.clock.advance(60_000);
  });

  await expect(world.sync()).rejects.toThrow("some changes are left");
  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - b 500"]);
});

test("what a sync sent after another one had taken over is undone", async () => {
  const world = await createBlindWorld(EMPTY);
  const { deps } = world.newInvocation();
  const at = world.clock.now();
  const threshold = { name: "reaching_used_space", bucket_name: "a", limit: "500" } as const;
  const changes = [{ action: "create", threshold } as const];
  const config = { clientId: undefined, prune: true, thresholds: [threshold], digest: "a" };
  const cause = { kind: "schedule", eventId: "tick" } as const;
  const source = { name: "thresholds.yaml", version: "0" };
  const slow: Sync = {
    ...{ deps, key: "local", stored: undefined, remembered: [], endsAt: at + LEASE_MS },
    ...{ plan: { changes, unchangedCount: 0 }, ambiguityWindowMs: AMBIGUITY_WINDOW_MS },
    facts: { account: "local", source, config, cause, actualFrom: "ledger", at },
  };
  const run = await beginChanges(slow);
  await world.clock.advance(LEASE_MS + AMBIGUITY_WINDOW_MS);
  await world.sync();

  await world.atProvider("POST", EVENT_A);
  const done = { outcome: "done", action: "create", isOpen: false } as const;
  await expect(endChanges(slow, run, [{ ...done, change: changes[0]! }])).rejects.toThrow(
    "another sync has taken over",
  );
  await world.sync();

  expect(await world.actual()).toEqual([]);
});

test("a change without a recorded outcome may take effect until its sync must have ended, whatever a later sync sends", () => {
  const target = { name: "reaching_used_space", bucket_name: "a" } as const;
  const untilOfFirst = 600_000;
  const before = [{ ...target, open: { limits: ["500"], until: untilOfFirst } }];
  const change = { action: "delete", from: target } as const;
  const moment = { startedAt: 100_000, now: 101_000, ambiguityWindowMs: 90_000 };
  const intended = withIntents(before, [change], { now: 100_000, until: 490_000 });
  const outcomeOf = (isOpen: boolean) =>
    withOutcomes(intended, [{ change, action: "delete", isOpen, outcome: "done" }], before, moment);

  expect(outcomeOf(false)).toEqual(before);
  expect(outcomeOf(true)).toEqual([
    { ...target, open: { limits: ["500", null], until: untilOfFirst } },
  ]);
});
