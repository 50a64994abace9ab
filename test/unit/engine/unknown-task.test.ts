import { expect, test } from "vitest";
import { cancelCommand } from "../../../lib/admin/operator-actions.ts";
import { readView } from "../../../lib/admin/status.ts";
import { createGate } from "../../support/gate.ts";
import { json, scriptProvider } from "../../support/provider.ts";
import { requestOf, updateContainer } from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const MINUTE_MS = 60_000;
const TASK = "no-such-task";
const TARGET = `GET /v1/tasks/${TASK}`;
const START = Date.UTC(2026, 0, 1);

const follow = (commandId: string) =>
  requestOf(commandId, { operation: "follow-task", params: { task_id: TASK } });
const viewOf = (world: World, id = "f1") => readView(world.ledger, `own/${id}`, world.clock.now());
const cancel = (world: World, id = "f1") => cancelCommand(world.newInvocation().deps, `own/${id}`);
const writesTo = (calls: readonly string[]) =>
  calls.filter((name) => name.startsWith("ledger.write task#")).length;

test("status shows since when the provider does not know a task, and when it is given up", async () => {
  const world = await createWorld({ provider: () => scriptProvider({}) });
  await world.handle(follow("f1"));
  const before = await viewOf(world);

  await world.pass(MINUTE_MS);

  expect(before?.waitsFor).toEqual({ for: "tasks", taskIds: [TASK] });
  const waitsFor = (await viewOf(world))?.waitsFor;
  expect(waitsFor).toMatchObject({ for: "tasks", taskIds: [TASK] });
  const [unknown] = (waitsFor?.for === "tasks" && waitsFor.unknown) || [];
  const since = Date.parse(unknown?.since ?? "");
  expect(since - START).toBeGreaterThanOrEqual(2_000);
  expect(since - START).toBeLessThan(10_000);
  expect(Date.parse(unknown?.until ?? "")).toBe(since + 5 * MINUTE_MS);
  await world.untilQuiet();
  expect((await world.command("f1"))?.state).toMatchObject({ reason: "task-unknown" });
});

test("a check of an unknown task writes no more than before", async () => {
  const calls: string[] = [];
  const world = await createWorld({
    provider: () => scriptProvider({}),
    around: ({ name }, effect) => {
      calls.push(name);
      return effect();
    },
  });
  await world.handle(follow("f1"));
  const recorded = writesTo(calls);

  await world.poll(5_000);

  const looks = calls.filter((name) => name === `fetch ${TARGET}`).length;
  expect(looks).toBeGreaterThan(0);
  expect(writesTo(calls) - recorded).toBe(looks);
});

test("a follow-task can be cancelled while its task is followed, and is not checked any more", async () => {
  const provider = scriptProvider({ [TARGET]: () => json(200, { id: TASK, state: "RUNNING" }) });
  const world = await createWorld({ provider: () => provider });
  await world.handle(follow("f1"));
  await world.pass(10_000);
  expect((await viewOf(world))?.personCan).toEqual(["cancel"]);

  const answer = await cancel(world);
  await world.untilQuiet();
  const asked = provider.requests.length;
  await world.pass(10 * MINUTE_MS);

  expect(answer).toMatchObject({ kind: "stopped", status: "cancelled", unfollowed: [TASK] });
  expect(world.publishedTypes("f1")).toEqual(["CommandAccepted", "CommandCancelled"]);
  expect(world.bus.published().at(-1)?.data).toMatchObject({
    reason: "requested",
    taskIds: [TASK],
    problems: [
      { path: "", rule: "an operator cancelled the command; the task continues at the provider" },
    ],
  });
  expect(provider.requests).toHaveLength(asked);
  expect(await world.dueEntries()).toEqual([]);
});

test("a task that ends while its follow-task is cancelled is not published for it", async () => {
  const gate = createGate();
  const provider = scriptProvider({ [TARGET]: () => json(200, { id: TASK, state: "FINISHED" }) });
  const world = await createWorld({ provider: () => provider, around: gate.around });
  await world.handle(follow("f1"));
  const looking = gate.hold(`fetch ${TARGET}`);
  const polling = world.poll(10_000);
  await looking.reached;

  await cancel(world);
  looking.open();
  await polling;
  await world.untilQuiet();

  expect(world.publishedTypes("f1")).toEqual(["CommandAccepted", "CommandCancelled"]);
});

test("a follow-task that is cancelled while its task is recorded leaves no open task", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: () => scriptProvider({}), around: gate.around });
  const recording = gate.hold(`ledger.write task#local/${TASK}/own/f1`);
  const handled = world.handle(follow("f1"));
  await recording.reached;

  await cancel(world);
  await world.clock.advance(6_000);
  await world.poll(1_000);
  recording.open();
  await handled;
  await world.untilQuiet();

  expect(world.publishedTypes("f1")).toEqual(["CommandAccepted", "CommandCancelled"]);
  expect(await world.dueEntries()).toEqual([]);
});

test("a command that has started tasks is still followed to their end", async () => {
  const world = await createWorld({
    provider: () => scriptProvider({ "PATCH /cloud": () => json(200, { tasks: [TASK] }) }),
  });
  await world.handle(updateContainer("c1"));

  expect(await cancel(world, "c1")).toEqual({ kind: "following", taskIds: [TASK] });
});

test("after an unknown task of a follow-task the hint is to check its id", async () => {
  const world = await createWorld({ provider: () => scriptProvider({}) });
  await world.handle(follow("f1"));
  await world.untilQuiet();

  expect((await viewOf(world))?.personCan).toEqual(["check-task-id"]);
});

test("after a failed task of a follow-task there is no hint", async () => {
  const failed = () => json(200, { id: TASK, state: "ERROR", error: "no room" });
  const world = await createWorld({ provider: () => scriptProvider({ [TARGET]: failed }) });
  await world.handle(follow("f1"));
  await world.untilQuiet();

  expect(await viewOf(world)).toMatchObject({ reason: "task-failed", personCan: [] });
});
