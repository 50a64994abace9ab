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

describe("poll-tasks in a stage with shards", () => {
  const bodiesOf = (...bodies: readonly string[]) => ({
    Records: bodies.map((body, index) => ({
      ...wake.Records[0]!,
      messageId: `m-${index}`,
      body,
    })),
  });

  it.each([
    ["a tick of a shard", { ...(scheduled as ScheduledEvent), shard: 2 }, ["/2"]],
    ["wake signals, once for each shard", bodiesOf("3", "0", "3"), ["/3", ""]],
    ["a wake signal of an earlier version", bodiesOf("wake"), [""]],
    ["a wake signal for a shard that cannot exist", bodiesOf("16"), [""]],
  ])("runs for %s", async (_name, event, leases) => {
    const world = await createFunctionWorld();
    const { pollTasks } = world.skyhook();

    await pollTasks(event, world.contextOf(60_000));

    expect(world.calls.filter((call) => call.startsWith("ledger.read"))).toEqual(
      leases.map((lease) => `ledger.read lease#poll-tasks${lease}`),
    );
  });

  it("finishes the runs of other shards when one fails, and then fails", async () => {
    const world = await createFunctionWorld(failing("ledger.read lease#poll-tasks/1"));
    const { pollTasks } = world.skyhook();

    await expect(pollTasks(bodiesOf("1", "0"), world.contextOf(60_000))).rejects.toThrow(
      "ledger.read lease#poll-tasks/1 is away",
    );

    expect(world.calls.at(-1)).toBe("ledger.listDue");
  });
});

describe.each(EVENTS)("poll-tasks, called by %s", (_caller, event) => {
  it("reads the lease and the due index once when nothing is outstanding", async () => {
    const world = await createFunctionWorld();
    const { pollTasks } = world.skyhook();

    expect(await pollTasks(event, world.contextOf(60_000))).toBeUndefined();

    expect(world.calls).toEqual(["ledger.read lease#poll-tasks", "ledger.listDue"]);
  });

  it("asks for a run at the next check of a task, and follows it to its end", async () => {
    const world = await createFunctionWorld();
    await world.handle(updateContainer("c1"));
    await world.clock.advance(2_000);
    const { pollTasks } = world.skyhook();

    await world.drive(pollTasks(event, world.contextOf(60_000)));
    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted"]);
    for (let check = 1; check <= 2; check += 1) {
      const next = world.wakes.at(-1)!;
      expect(next).toBeGreaterThanOrEqual(world.clock.now() + 4_000);
      await world.clock.advance(next - world.clock.now());
      await world.drive(pollTasks(event, world.contextOf(60_000)));
    }

    expect(world.publishedTypes("c1")).toEqual([
      "CommandAccepted",
      "TaskFinished",
      "CommandSucceeded",
    ]);
  });

  it("ends in time, and leaves unfinished work to the next run", async () => {
    const world = await createFunctionWorld();
    await world.handle(updateContainer("c1"));
    await world.clock.advance(20_000);
    const { pollTasks } = world.skyhook();

    await world.drive(pollTasks(event, world.contextOf(3_000)));
    const atFirst = world.publishedTypes("c1");
    await world.drive(pollTasks(event, world.contextOf(60_000)));

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
