import { describe, expect, test } from "vitest";
import { cancelCommand } from "../../../../lib/admin/operator-actions.ts";
import { checkCommand } from "../../../../lib/engine/advance.ts";
import { commands } from "../../../../lib/engine/command.ts";
import { lanes } from "../../../../lib/engine/lane.ts";
import { openInLane, wholeValue } from "../../../support/commands.ts";
import { json, scriptProvider } from "../../../support/provider.ts";
import { requestOf, updateContainer } from "../../../support/requests.ts";
import { createWorld, type World } from "../../../support/world.ts";

/*
 * A command that follows tasks has no due entry of its own. The checks of its open tasks expire it, whatever the
 * provider answers.
 */

const DEADLINE_MS = 10 * 60_000;
/** The provider answers otherwise from then on. */
const MINUTES_BEFORE_MS = DEADLINE_MS - 2 * 60_000;
const KEY = "own/c1";
const RUNNING = () => json(200, { id: "t1", state: "RUNNING" });

/** A world in which `c1` follows a task, whose reads are answered so. Its deadline is in ten minutes. */
const following = async (answer: () => Response, request = updateContainer) => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/t1": answer,
  });
  const accounts: Record<string, object> = { local: {} };
  const world = await createWorld({ provider: () => provider, accounts });
  const deadlineAt = world.clock.now() + DEADLINE_MS;
  await world.send(request("c1", {}, { deadline: new Date(deadlineAt).toISOString() }));
  await world.deliver();
  return { world, provider, accounts, deadlineAt };
};

const dueCommands = async ({ dueEntries }: Awaited<ReturnType<typeof createWorld>>) =>
  (await dueEntries()).filter(({ key }) => key.startsWith("command#"));

test("a command has no due entry while it follows tasks, and while the last of them ends it", async () => {
  const { world, provider } = await following(RUNNING);
  const whileFollowing = await dueCommands(world);

  provider.answer("GET /v1/tasks/t1", () => json(200, { id: "t1", state: "FINISHED" }));
  world.bus.refuse(({ detailType }) => detailType === "CommandSucceeded");
  await world.pass(60_000);
  const unpublished = await world.command("c1");

  expect(whileFollowing).toEqual([]);
  expect(unpublished?.state).toMatchObject({ status: "succeeded", settled: false });
  expect(await dueCommands(world)).toEqual([]);
  world.bus.refuse(() => false);
  await world.untilQuiet();
  expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
});

describe("a command that follows a task ends at its deadline", () => {
  test.each<readonly [string, () => Response]>([
    ["runs", RUNNING],
    ["cannot be read", () => json(503, {})],
    ["is hidden by a pause of a day", () => json(429, {}, { "retry-after": "86400" })],
    ["is unknown for two minutes", () => json(404, {})],
    ["answers in no known form", () => json(200, { state: 7 })],
  ])("while the task %s", async (_name, answer) => {
    const { world, provider, deadlineAt } = await following(RUNNING);
    await world.pass(MINUTES_BEFORE_MS);
    provider.answer("GET /v1/tasks/t1", answer);

    await world.untilQuiet();

    const state = (await world.command("c1"))?.state;
    expect(state).toMatchObject({ status: "failed", reason: "deadline", settled: true });
    const lateMs = state && "endedAt" in state ? state.endedAt - deadlineAt : undefined;
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(2_000);
    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandFailed"]);
    const task = (await world.ledger.read("task#local/t1"))?.value.state;
    expect(task).toMatchObject({ status: "abandoned" });
  });

  test("while its account is not in the accounts file", async () => {
    const { world, accounts } = await following(RUNNING);
    delete accounts.local;

    await world.untilQuiet();

    expect((await world.command("c1"))?.state).toMatchObject({ reason: "deadline", settled: true });
  });

  /** `c2` in another lane, with two tasks that finish while the bus takes the event of none. */
  const finishedUnheard = async (meanwhile?: (world: World) => Promise<void>) => {
    const { world, provider } = await following(RUNNING);
    provider.answer("PATCH ", () => json(200, { tasks: ["t2", "t3"] }));
    for (const id of ["t2", "t3"])
      provider.answer(`GET /v1/tasks/${id}`, () => json(200, { id, state: "FINISHED" }));
    world.bus.refuse(({ detailType }) => detailType === "TaskFinished");
    const deadline = new Date(world.clock.now() + DEADLINE_MS).toISOString();
    const other = { project_id: 1234567, region_id: 76, container_name: "other" };
    await world.send(updateContainer("c2", {}, { deadline, params: other }));
    await world.deliver();

    await world.pass(DEADLINE_MS / 2);
    await meanwhile?.(world);
    await world.pass(DEADLINE_MS / 2 + 30_000);

    return world;
  };

  test("with the ends of its tasks that the bus did not take, and its lane is free then", async () => {
    const world = await finishedUnheard();

    const command = await world.command("c2");
    expect(command?.state).toMatchObject({ status: "succeeded", settled: false });
    expect(await openInLane(world.ledger, command?.lane ?? "")).toEqual([]);
  });

  test("with them, and its lane is free although the process died before it could pass it on", async () => {
    const world = await finishedUnheard();
    const { lane = "" } = (await world.command("c2")) ?? {};
    const held = { holder: "own/c2", waiting: ["own/c3"], changedAt: world.clock.now() };
    await lanes.change(world.ledger, lane, () => held);

    await world.pass(10_000);

    expect((await lanes.read(world.ledger, lane))?.value.holder).toBe("own/c3");
  });

  test("while an item of a newer version hides what is known of a task", async () => {
    const world = await finishedUnheard(async ({ ledger }) => {
      const item = (await ledger.read("task#local/t3"))!;
      await ledger.write({ ...item, version: item.version + 1, value: { version: "newer" } });
    });

    const command = await world.command("c2");

    expect(command?.state).toMatchObject({ status: "failed", reason: "deadline", settled: true });
    expect(await openInLane(world.ledger, command?.lane ?? "")).toEqual([]);
  });

  test("and the events of all its tasks leave before that of its end", async () => {
    const world = await finishedUnheard();
    world.bus.refuse(({ detail }) => JSON.stringify(detail).includes('"taskId":"t3"'));
    await world.pass(30_000);
    const whileOneIsRefused = world.publishedTypes("c2");
    world.bus.refuse(() => false);

    await world.untilQuiet();

    expect(whileOneIsRefused).toContain("TaskFinished");
    const ended = world.bus
      .published()
      .findIndex(({ detailType }) => detailType === "CommandSucceeded");
    const last = world.bus.published().findIndex(({ data }) => data.taskId === "t3");
    expect(last).toBeGreaterThan(0);
    expect(ended).toBeGreaterThan(last);
    expect(await world.dueEntries()).toEqual([]);
  });

  test("by the entry that an earlier version left at the deadline", async () => {
    const { world, deadlineAt } = await following(RUNNING);
    const item = (await world.ledger.read(`command#${KEY}`))!;
    const value = wholeValue(commands.fromItem(item));
    const older = { ...item, version: item.version + 1, dueAt: deadlineAt, value };
    await world.ledger.write(older);
    await world.clock.advance(deadlineAt - world.clock.now() - 1);
    const { deps } = world.newInvocation();

    await checkCommand(deps, KEY);
    const before = await world.command("c1");
    await world.clock.advance(1);
    await checkCommand(deps, KEY);

    expect(before?.state.status).toBe("following");
    expect((await world.command("c1"))?.state).toMatchObject({ reason: "deadline", settled: true });
    expect(await dueCommands(world)).toEqual([]);
  });
});

test("a follow-task that an operator cancels gets a due entry, until its event is published", async () => {
  const followTask: typeof updateContainer = (id, _body, data) =>
    requestOf(id, { operation: "follow-task", params: { task_id: "t1" }, ...data });
  const { world } = await following(RUNNING, followTask);

  await cancelCommand(world.newInvocation().deps, KEY);
  const due = await dueCommands(world);
  await world.untilQuiet();

  expect(due).toMatchObject([{ key: `command#${KEY}` }]);
  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandCancelled"]);
  expect(await world.dueEntries()).toEqual([]);
});
