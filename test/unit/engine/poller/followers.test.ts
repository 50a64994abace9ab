import { expect, test } from "vitest";
import type { Around } from "../../../support/faults.ts";
import { json, type SeenRequest, scriptProvider } from "../../../support/provider.ts";
import { requestOf } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

const READ = "GET /v1/tasks/";
const LIST = "GET /cloud/v1/tasks";

const follow = (commandId: string, taskId = "t1") =>
  requestOf(commandId, { operation: "follow-task", params: { task_id: taskId } });
const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

test("one check of a task is enough for all its followers", async () => {
  const provider = scriptProvider({ [READ]: () => json(200, { id: "t1", state: "RUNNING" }) });
  const world = await createWorld({ provider: () => provider });
  for (const id of names("f", 50)) await world.handle(follow(id));
  await world.clock.advance(700_000);

  await world.poll();

  // The next check of tasks of this age comes after 56 s, and the run ends before.
  expect(provider.requests).toHaveLength(1);
});

test("a failure for one follower of a task does not hide the end from others", async () => {
  const provider = scriptProvider({ [READ]: () => json(200, { id: "t1", state: "FINISHED" }) });
  const around: Around = ({ name }, effect) =>
    name === "ledger.write task#local/t1/own/f1" && isBroken
      ? Promise.reject(new Error("cannot be written"))
      : effect();
  let isBroken = false;
  const world = await createWorld({ provider: () => provider, around });
  await world.handle(follow("f1"));
  await world.handle(follow("f2"));
  isBroken = true;

  await world.clock.advance(2_000);
  await world.poll(1_000);

  expect(world.publishedTypes("f2").at(-1)).toBe("CommandSucceeded");
  const warnings = world.log.lines.filter(({ level }) => level === "warn");
  expect(warnings.map(({ fields }) => [fields.key, fields.errorMessage])).toEqual([
    ["task#local/t1/own/f1", "cannot be written"],
  ]);
});

/** Tasks that began this many hours ago; the list obeys `from_timestamp`, as the provider's does. */
const longAtWork = (ids: readonly string[], hours: number) => (seen: SeenRequest) => {
  const beganAt = Date.UTC(2026, 0, 1) - hours * 3_600_000;
  const isListed = beganAt >= Date.parse(seen.query.get("from_timestamp")!);
  const results = isListed ? ids.map((id) => ({ id, state: "RUNNING" })) : [];
  return json(200, { count: results.length, results });
};

test("the list includes tasks that began long before they were followed", async () => {
  const ids = names("t", 6);
  const provider = scriptProvider({
    [LIST]: longAtWork(ids, 3),
    [READ]: () => json(200, { id: "t", state: "RUNNING" }),
  });
  const world = await createWorld({ provider: () => provider });
  for (const id of ids) await world.handle(follow(`f-${id}`, id));

  await world.pass(60_000);

  expect(provider.count(LIST)).toBeGreaterThan(0);
  expect(provider.count(READ)).toBe(0);
});

test("tasks that are too old for the list are read one by one", async () => {
  const ids = names("t", 6);
  const provider = scriptProvider({
    [LIST]: longAtWork(ids, 48),
    [READ]: ({ target }) => json(200, { id: target.slice(READ.length), state: "FINISHED" }),
  });
  const world = await createWorld({ provider: () => provider });
  for (const id of ids) await world.handle(follow(`f-${id}`, id));

  await world.untilQuiet();

  expect(world.publishedTypes().filter((type) => type === "CommandSucceeded")).toHaveLength(6);
});
