import type { S3ObjectCreatedNotificationEvent, ScheduledEvent } from "aws-lambda";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import written from "../../../support/fixtures/s3-object-created-event.json" with { type: "json" };
import scheduled from "../../../support/fixtures/scheduler-event.json" with { type: "json" };
import { createTextSource } from "../../../support/text-source.ts";
import { createFunctionWorld } from "../../functions/function-world.ts";
import { conditionHolds } from "../policy-condition.ts";
import type { TemplateReader } from "../template-reader.ts";

const WRITTEN = written as S3ObjectCreatedNotificationEvent;
const TICK = scheduled as ScheduledEvent;
const HOUR_MS = 3_600_000;
const TIMEOUT_MS = 300_000;
const WATCHLISTS = ["a", "b"].map(
  (name) => `items: [{ name: ${name}, ddos: { region_id: 76 } }]\n`,
);
const THRESHOLDS = "thresholds: [{ name: reaching_used_space, bucket_name: b, bytes: 1 GiB }]\n";

type World = Awaited<ReturnType<typeof createFunctionWorld>>;

/** Several runs of a job, because a later run reads and replaces items of an earlier one. */
const JOBS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  async SyncThresholdsRole(world) {
    const { syncThresholds } = world.skyhook({ thresholds: createTextSource(THRESHOLDS) });
    await syncThresholds(WRITTEN, world.contextOf(TIMEOUT_MS));
    await syncThresholds(TICK, world.contextOf(TIMEOUT_MS));
  },
  async SnapshotPricesRole(world) {
    for (const [hour, watchlist] of WATCHLISTS.entries()) {
      const time = new Date(Date.parse(TICK.time) + hour * HOUR_MS).toISOString();
      const { snapshotPrices } = world.skyhook({ watchlist: createTextSource(watchlist) });
      await snapshotPrices({ ...TICK, time }, world.contextOf(TIMEOUT_MS));
    }
  },
  async WatchAiTasksRole(world) {
    const { watchAiTasks } = world.skyhook();
    await watchAiTasks(TICK, world.contextOf(TIMEOUT_MS));
    await world.clock.advance(5 * 60_000);
    await watchAiTasks(TICK, world.contextOf(TIMEOUT_MS));
  },
};

const statementSchema = z.looseObject({
  Action: z.array(z.string()),
  Condition: z.unknown().optional(),
});
const roleSchema = z.object({
  Policies: z.tuple([
    z.object({ PolicyDocument: z.object({ Statement: z.array(statementSchema) }) }),
  ]),
});

/** Ledger items that the roles of the scheduled jobs may read and write. */
export const testJobKeys = ({ resource }: TemplateReader): void => {
  const mayUse = (role: string, key: string): boolean => {
    const [{ PolicyDocument }] = roleSchema.parse(resource(role).Properties).Policies;
    return PolicyDocument.Statement.filter(({ Action }) => Action.join().includes("dynamodb:"))
      .map(({ Condition }) => conditionHolds(Condition ?? {}, { "dynamodb:LeadingKeys": [key] }))
      .includes(true);
  };

  describe.each(Object.entries(JOBS))("the job of %s", (role, run) => {
    test("may read and write every ledger item that its runs use", async () => {
      const world = await createFunctionWorld();
      await run(world);

      const keys = world.calls.flatMap((call) => /^ledger\.\w+ (.*)$/.exec(call)?.[1] ?? []);
      expect(keys.length).toBeGreaterThan(5);
      expect(keys.filter((key) => !mayUse(role, key))).toEqual([]);
    });

    test.each([
      "command#123456789012/1",
      "attempts#123456789012/1/1",
      "lane#instance/7ae",
      "task#main/1/7ae",
      "lease#poll-tasks",
    ])("may not read or write %s", (key) => {
      expect(mayUse(role, key)).toBe(false);
    });
  });

  test("no job may read or write the items of another job", () => {
    const own: Readonly<Record<string, string>> = {
      SyncThresholdsRole: "thresholds#main",
      SnapshotPricesRole: "price#main/a",
      WatchAiTasksRole: "ai-task#main/1",
    };
    for (const role of Object.keys(JOBS)) {
      const allowed = Object.values(own).filter((key) => mayUse(role, key));

      expect(allowed, role).toEqual([own[role]]);
    }
  });
};
