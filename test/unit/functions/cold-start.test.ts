import type { ScheduledEvent } from "aws-lambda";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  aiTaskSettingsSchema,
  commandSettingsSchema,
  intakeSettingsSchema,
  priceSettingsSchema,
} from "../../../functions/settings.ts";
import { lambdaContext } from "../../../lib/local/aws-events.ts";
import scheduled from "../../support/fixtures/scheduler-event.json" with { type: "json" };
import fifo from "../../support/fixtures/sqs-fifo-event.json" with { type: "json" };
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const NAMES = [
  intakeSettingsSchema,
  commandSettingsSchema,
  priceSettingsSchema,
  aiTaskSettingsSchema,
].flatMap(({ shape }) => Object.keys(shape));
const context = lambdaContext("skyhook-dev", 60_000, {
  clock: createVirtualClock(),
  random: createSeededRandom(),
});

const FUNCTIONS = [
  {
    name: "intake",
    invoke: async () => (await import("../../../functions/intake/handler.ts")).handler({}, context),
  },
  {
    name: "run-commands",
    invoke: async () =>
      (await import("../../../functions/run-commands/handler.ts")).handler(fifo, context),
  },
  {
    name: "poll-tasks",
    invoke: async () =>
      (await import("../../../functions/poll-tasks/handler.ts")).handler(
        scheduled as ScheduledEvent,
        context,
      ),
  },
  {
    name: "sync-thresholds",
    invoke: async () =>
      (await import("../../../functions/sync-thresholds/handler.ts")).handler(
        scheduled as ScheduledEvent,
        context,
      ),
  },
  {
    name: "snapshot-prices",
    invoke: async () =>
      (await import("../../../functions/snapshot-prices/handler.ts")).handler(
        scheduled as ScheduledEvent,
        context,
      ),
  },
  {
    name: "watch-ai-tasks",
    invoke: async () =>
      (await import("../../../functions/watch-ai-tasks/handler.ts")).handler(
        scheduled as ScheduledEvent,
        context,
      ),
  },
];

describe.each(FUNCTIONS)("$name in a new sandbox", ({ name, invoke }) => {
  const environment = process.env;
  let read: string[];

  beforeEach(() => {
    vi.resetModules();
    read = [];
    process.env = new Proxy(
      { ...environment },
      {
        get(target, key) {
          if (NAMES.includes(String(key))) read.push(String(key));
          return Reflect.get(target, key);
        },
        ownKeys(target) {
          read.push("all of it");
          return Reflect.ownKeys(target);
        },
      },
    );
  });

  afterEach(() => {
    process.env = environment;
  });

  it("reads its settings during its import, which a failure does not fail", async () => {
    await import(`../../../functions/${name}/handler.ts`);

    expect(read).toEqual(["all of it"]);
  });

  it("fails with one message that names every missing setting, and tries again in the next call", async () => {
    const message =
      /^wrong settings: TABLE_NAME \(required\), .*, ACCOUNTS_FILE \(required\)(, |$)/;

    await expect(invoke()).rejects.toThrow(message);
    await expect(invoke()).rejects.toThrow(message);

    expect(read).toEqual(Array(3).fill("all of it"));
  });
});
