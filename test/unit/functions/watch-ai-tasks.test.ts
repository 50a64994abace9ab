import type { ScheduledEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { aiTasksLease } from "../../../lib/jobs/ai-tasks/watch-ai-tasks.ts";
import { takeLease } from "../../../lib/ledger/lease.ts";
import type { Around } from "../../support/faults.ts";
import scheduled from "../../support/fixtures/scheduler-event.json" with { type: "json" };
import { createFunctionWorld, failing } from "./function-world.ts";

const TICK = scheduled as ScheduledEvent;
const MINUTE_MS = 60_000;

const open = async (aiTaskName?: string, around?: Around) => {
  const world = await createFunctionWorld(around);
  const handler = world.skyhook({ aiTaskName }).watchAiTasks;
  const ends = () => world.bus.published().map(({ data }) => [data.taskName, data.status]);
  return { world, handler, ends };
};

describe("watch-ai-tasks", () => {
  it("publishes nothing in the first run, and each later end of a task", async () => {
    const { world, handler, ends } = await open();

    await handler(TICK, world.contextOf(300_000));
    const first = ends();
    await world.clock.advance(5 * MINUTE_MS);
    await handler(TICK, world.contextOf(300_000));
    await handler(TICK, world.contextOf(300_000));

    expect(first).toEqual([]);
    expect(ends().toSorted()).toEqual([
      ["content-moderation", "FAILURE"],
      ["transcription", "SUCCESS"],
    ]);
  });

  it("logs the id of the calling event", async () => {
    const { world, handler } = await open();
    const lease = { name: aiTasksLease("local"), by: "another", durationMs: MINUTE_MS };
    await takeLease(world, lease);

    await handler(TICK, world.contextOf(300_000));

    expect(world.log.lines).toMatchObject([
      {
        message: "another run watches the AI tasks",
        fields: { correlationId: "37666ae6-48cf-4285-b4c6-a3320b38824a" },
      },
    ]);
  });

  it("logs that id with a failed run", async () => {
    const { world, handler } = await open(undefined, failing("ledger.read"));

    await expect(handler(TICK, world.contextOf(300_000))).rejects.toThrow("ledger.read is away");

    expect(world.log.lines).toMatchObject([
      {
        message: "invocation failed",
        fields: { correlationId: "37666ae6-48cf-4285-b4c6-a3320b38824a" },
      },
    ]);
  });

  it("publishes tasks of the configured name only", async () => {
    const { world, handler, ends } = await open("transcription");
    await handler(TICK, world.contextOf(300_000));
    await world.clock.advance(5 * MINUTE_MS);

    await handler(TICK, world.contextOf(300_000));

    expect(ends()).toEqual([["transcription", "SUCCESS"]]);
  });
});
