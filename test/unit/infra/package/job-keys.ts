import type { S3ObjectCreatedNotificationEvent, ScheduledEvent } from "aws-lambda";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createHandler as createPricesHandler } from "../../../../functions/snapshot-prices/handler.ts";
import { createHandler as createThresholdsHandler } from "../../../../functions/sync-thresholds/handler.ts";
import { createHandler as createAiTasksHandler } from "../../../../functions/watch-ai-tasks/handler.ts";
import written from "../../../support/fixtures/s3-object-created-event.json" with { type: "json" };
import scheduled from "../../../support/fixtures/scheduler-event.json" with { type: "json" };
import { createTextSource } from "../../../support/text-source.ts";
import { createJobWorld } from "../../functions/job-world.ts";
import { conditionHolds } from "../policy-condition.ts";
import type { TemplateReader } from "../template-reader.ts";

const WRITTEN = written as S3ObjectCreatedNotificationEvent;
const TICK = scheduled as ScheduledEvent;
const HOUR_MS = 3_600_000;
const WATCHLISTS = ["a", "b"].map(
  (name) => `items: [{ name: ${name}, ddos: { region_id: 76 } }]\n`,
);
const THRESHOLDS = "thresholds: [{ name: reaching_used_space, bucket_name: b, bytes: 1 GiB }]\n";

type JobWorld = Awaited<ReturnType<typeof createJobWorld>>;

/** A job's runs, more than one: what a first run has written, a later one reads and replaces. */
const JOBS: Readonly<Record<string, (world: JobWorld) => Promise<void>>> = {
  async SyncThresholdsRole(world) {
    const source = createTextSource(THRESHOLDS);
    const handler = createThresholdsHandler(async () => ({ ...(await world.deps()), source }));
    await handler(WRITTEN, world.context());
    await handler(TICK, world.context());
  },
  async SnapshotPricesRole(world) {
    for (const [hour, watchlist] of WATCHLISTS.entries()) {
      const source = createTextSource(watchlist);
      const time = new Date(Date.parse(TICK.time) + hour * HOUR_MS).toISOString();
      const handler = createPricesHandler(async () => ({
        ...(await world.deps()),
        source,
        periodMs: HOUR_MS,
      }));
      await handler({ ...TICK, time }, world.context());
    }
  },
  async WatchAiTasksRole(world) {
    const taskName = undefined;
    const handler = createAiTasksHandler(async () => ({ ...(await world.deps()), taskName }));
    await handler(TICK, world.context());
    await world.clock.advance(5 * 60_000);
    await handler(TICK, world.context());
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

/** What the roles of the scheduled jobs may reach in the ledger. */
export const testJobKeys = ({ resource }: TemplateReader): void => {
  const mayUse = (role: string, key: string): boolean => {
    const [{ PolicyDocument }] = roleSchema.parse(resource(role).Properties).Policies;
    return PolicyDocument.Statement.filter(({ Action }) => Action.join().includes("dynamodb:"))
      .map(({ Condition }) => conditionHolds(Condition ?? {}, { "dynamodb:LeadingKeys": [key] }))
      .includes(true);
  };

  describe.each(Object.entries(JOBS))("the job of %s", (role, run) => {
    test("may read and write every ledger item that its runs ask for", async () => {
      const world = await createJobWorld();
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
    ])("may not touch %s", (key) => {
      expect(mayUse(role, key)).toBe(false);
    });
  });

  test("no job may touch what another job remembers", () => {
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
