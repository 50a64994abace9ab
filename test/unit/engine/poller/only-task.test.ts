import { describe, expect, test } from "vitest";
import { readState } from "../../../../lib/admin/status.ts";
import { tasks } from "../../../../lib/engine/task.ts";
import { createFaults } from "../../../support/faults.ts";
import { json, scriptProvider } from "../../../support/provider.ts";
import { updateContainer } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

const READ = "GET /v1/tasks/t1";
const RUNNING = () => json(200, { id: "t1", state: "RUNNING" });
const FINISHED = () =>
  json(200, { id: "t1", state: "FINISHED", created_resources: { routers: ["r1"] } });
const MINUTE_MS = 60_000;

/** A world in which `c1` follows its only task, which runs until `finish()`. */
const following = async (deadlineMs = 30 * MINUTE_MS) => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    [READ]: RUNNING,
  });
  const faults = createFaults();
  let isNextPublishFatal = false;
  const world = await createWorld({
    provider: () => provider,
    around: (call, effect) => {
      if (isNextPublishFatal && call.name === "bus.publish") {
        isNextPublishFatal = false;
        faults.strike(faults.calls.length + 1, "killed");
      }
      return faults.around(call, effect);
    },
  });
  const deadline = new Date(world.clock.now() + deadlineMs).toISOString();
  await world.handle(updateContainer("c1", {}, { deadline }));
  /** The process that finds the end dies after it has recorded it, before it publishes it. */
  const dieWithEnd = async (): Promise<void> => {
    isNextPublishFatal = true;
    provider.answer(READ, FINISHED);
    await world.pass(10_000);
  };
  return {
    ...{ world, provider, faults, dieWithEnd },
    task: async () => (await tasks.read(world.ledger, "local/t1"))?.value.state,
    /** Types of the command's events that its status shows as not yet published. */
    waiting: async () => {
      const state = await readState(world.ledger, {
        ...{ sender: "own", id: "c1", now: world.clock.now() },
      });
      return state?.events.filter((event) => event.state === "waiting").map(({ type }) => type);
    },
  };
};

const ENDS = ["TaskFinished", "CommandSucceeded"];

describe("the success of a command's only task", () => {
  test("is one write of the command and one of the task", async () => {
    const { world, provider, faults } = await following();
    provider.answer(READ, FINISHED);
    const before = faults.calls.length;

    await world.untilQuiet();

    const writes = faults.calls.slice(before).filter((name) => name.startsWith("ledger.write"));
    expect(writes.filter((name) => !name.includes("lease#"))).toEqual([
      "ledger.write command#own/c1",
      "ledger.write task#local/t1",
    ]);
    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
  });

  test("lets the store delete both in time", async () => {
    const { world, provider } = await following();
    provider.answer(READ, FINISHED);

    await world.untilQuiet();

    const items = await Promise.all(
      ["command#own/c1", "task#local/t1"].map((key) => world.ledger.read(key)),
    );
    for (const item of items) expect(item).toMatchObject({ expiresAt: expect.any(Number) });
  });

  test("is published by another process after the first one died", async () => {
    const { world, task, waiting, dieWithEnd } = await following();
    await dieWithEnd();
    expect(await world.command("c1")).toMatchObject({ state: { status: "succeeded" } });
    expect(await task()).toEqual({ status: "open" });
    expect(await waiting()).toEqual(ENDS);

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
    expect(await task()).toMatchObject({
      ...{ status: "finished", told: true, createdResources: { routers: ["r1"] } },
    });
    expect(await waiting()).toEqual([]);
  });

  test("stays what the command recorded when the provider has forgotten the task", async () => {
    const { world, provider, dieWithEnd } = await following();
    await dieWithEnd();
    provider.answer(READ, () => json(404, {}));

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
  });

  test("is published at the deadline although the task cannot be read any more", async () => {
    const { world, provider, dieWithEnd } = await following(5 * MINUTE_MS);
    await dieWithEnd();
    provider.answer(READ, () => json(503, {}));

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
  });

  test("is published again without another check of the task", async () => {
    const { world, provider, task } = await following();
    provider.answer(READ, FINISHED);
    world.bus.refuse(({ detailType }) => detailType === "CommandSucceeded");
    await world.pass(MINUTE_MS);
    const checks = provider.count(READ);
    expect(await task()).toMatchObject({ status: "finished", told: false });

    world.bus.refuse(() => false);
    await world.untilQuiet();

    expect(provider.count(READ)).toBe(checks);
    expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
  });

  test("is not published again for a repeated request", async () => {
    const { world, provider } = await following();
    provider.answer(READ, FINISHED);
    await world.untilQuiet();
    const before = world.publishedTypes();

    await world.handle(updateContainer("c1", {}, { deadline: "2026-01-01T00:30:00.000Z" }));
    await world.untilQuiet();

    expect(world.publishedTypes()).toEqual(before);
  });
});
