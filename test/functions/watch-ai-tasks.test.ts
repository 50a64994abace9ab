import type { ScheduledEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { createHandler } from "../../functions/watch-ai-tasks/handler.ts";
import scheduled from "../fixtures/scheduler-event.json" with { type: "json" };
import { createJobWorld } from "./job-world.ts";

const TICK = scheduled as ScheduledEvent;
const MINUTE_MS = 60_000;

const open = async (taskName?: string) => {
  const world = await createJobWorld();
  const handler = createHandler(async () => ({ ...(await world.deps()), taskName }));
  const ends = () => world.bus.published().map(({ data }) => [data.taskName, data.status]);
  return { world, handler, ends };
};

describe("watch-ai-tasks", () => {
  it("tells of no task at first, and of each that ends from then on", async () => {
    const { world, handler, ends } = await open();

    await handler(TICK, world.context());
    const first = ends();
    await world.clock.advance(5 * MINUTE_MS);
    await handler(TICK, world.context());
    await handler(TICK, world.context());

    expect(first).toEqual([]);
    expect(ends().toSorted()).toEqual([
      ["content-moderation", "FAILURE"],
      ["transcription", "SUCCESS"],
    ]);
  });

  it("tells of tasks of the chosen name only", async () => {
    const { world, handler, ends } = await open("transcription");
    await handler(TICK, world.context());
    await world.clock.advance(5 * MINUTE_MS);

    await handler(TICK, world.context());

    expect(ends()).toEqual([["transcription", "SUCCESS"]]);
  });
});
