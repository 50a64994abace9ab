import type { ScheduledEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import scheduled from "../../support/fixtures/scheduler-event.json" with { type: "json" };
import wake from "../../support/fixtures/sqs-standard-event.json" with { type: "json" };
import { updateContainer } from "../../support/requests.ts";
import { createFunctionWorld, failing } from "./function-world.ts";

const EVENTS = [
  // JSON has no literal types.
  ["the schedule", scheduled as ScheduledEvent],
  ["a wake", wake],
] as const;

describe.each(EVENTS)("poll-tasks, called by %s", (_caller, event) => {
  it("reads the due index once and ends when nothing is outstanding", async () => {
    const world = await createFunctionWorld();
    const { pollTasks } = world.skyhook();

    expect(await pollTasks(event, world.contextOf(60_000))).toBeUndefined();

    expect(world.calls).toEqual(["ledger.listDue"]);
  });

  it("follows a task to its end within one run", async () => {
    const world = await createFunctionWorld();
    await world.handle(updateContainer("c1"));
    const { pollTasks } = world.skyhook();

    const run = pollTasks(event, world.contextOf(60_000));
    await world.clock.advance(60_000);
    await run;

    expect(world.publishedTypes("c1")).toEqual([
      "CommandAccepted",
      "TaskFinished",
      "CommandSucceeded",
    ]);
  });

  it("ends in time, and leaves unfinished work to the next run", async () => {
    const world = await createFunctionWorld();
    await world.handle(updateContainer("c1"));
    const { pollTasks } = world.skyhook();

    const run = pollTasks(event, world.contextOf(8_000));
    await world.clock.advance(8_000);
    await run;
    const atFirst = world.publishedTypes("c1");
    const next = pollTasks(event, world.contextOf(60_000));
    await world.clock.advance(60_000);
    await next;

    expect(atFirst).toEqual(["CommandAccepted"]);
    expect(world.publishedTypes("c1")).toEqual([
      "CommandAccepted",
      "TaskFinished",
      "CommandSucceeded",
    ]);
  });

  it("fails with one log line when the ledger cannot be read", async () => {
    const world = await createFunctionWorld(failing("ledger.listDue"));
    const { pollTasks } = world.skyhook();

    await expect(pollTasks(event, world.contextOf(60_000))).rejects.toThrow(
      "ledger.listDue is away",
    );

    expect(world.log.lines).toMatchObject([{ level: "error", message: "invocation failed" }]);
  });
});
