import { expect, test } from "vitest";
import type { Around } from "../../support/faults.ts";
import { json, scriptProvider, startProvider } from "../../support/provider.ts";
import { requestOf, updateContainer, updatePolicy } from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";
import { linesOf, POLICY_LANE, traced } from "./traced.ts";

test("an event that is not published is logged with its command", async () => {
  const world = await createWorld({ provider: startProvider });
  world.bus.refuse(({ detailType }) => detailType === "CommandSucceeded");

  await world.handle(traced("c1"));

  expect(world.log.lines.filter(({ level }) => level === "warn")).toMatchObject([
    {
      message: "event not published",
      fields: { commandId: "c1", correlationId: "trace-c1", detailType: "CommandSucceeded" },
    },
  ]);
});

test("a rejection is logged with the requested command id", async () => {
  const world = await createWorld({ provider: startProvider });
  const request = requestOf("c1", { operation: "dance" }, { correlationId: "trace-c1" });

  await world.handle(request);

  expect(linesOf(world, "c1")).toMatchObject([
    {
      message: "request rejected",
      fields: { correlationId: "trace-c1", sender: "own", reason: "unknown-operation" },
    },
  ]);
});

test("a due entry that fails is logged with its command", async () => {
  let isBroken = false;
  const around: Around = ({ name }, effect) =>
    isBroken && name === "queue.send" ? Promise.reject(new Error("away")) : effect();
  const provider = scriptProvider({ "PATCH ": () => json(429, {}) });
  const world = await createWorld({ provider: () => provider, around });
  await world.handle(updatePolicy("c1"));
  await world.clock.advance(10_000);
  isBroken = true;

  await world.poll(1_000);

  expect(linesOf(world, "c1").at(-1)).toMatchObject({
    level: "warn",
    message: "due entry not handled, it stays due",
    fields: { key: "command#own/c1", sender: "own", errorMessage: "away" },
  });
});

test("the end of a task that cannot be published is logged with task and command", async () => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "FINISHED" }),
  });
  const world = await createWorld({ provider: () => provider });
  await world.handle(updateContainer("c1"));
  world.bus.refuse(({ detailType }) => detailType === "TaskFinished");
  await world.clock.advance(2_000);

  await world.poll(10_000);

  const warnings = world.log.lines.filter(({ level }) => level === "warn");
  expect(warnings.length).toBeGreaterThan(2);
  for (const { fields } of warnings)
    expect(fields).toMatchObject({ commandId: "c1", taskId: "t1" });
});

test("a resumed command that cannot be handled is logged with its correlation id", async () => {
  let isBroken = false;
  const around: Around = ({ name }, effect) =>
    isBroken && name === "ledger.write command#own/c1"
      ? Promise.reject(new Error("away"))
      : effect();
  const provider = scriptProvider({ "PATCH ": () => json(429, {}) });
  const world = await createWorld({ provider: () => provider, around });
  await world.handle(traced("c1"));
  await world.clock.advance(10_000);
  isBroken = true;

  await world.handle({ resume: { command: "own/c1", lane: POLICY_LANE } }).catch(() => undefined);

  expect(world.log.lines.at(-1)).toMatchObject({
    level: "error",
    message: "message not handled; the queue delivers it again",
    fields: { correlationId: "trace-c1", commandId: "c1", lane: POLICY_LANE, errorMessage: "away" },
  });
});
