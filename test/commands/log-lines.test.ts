import { expect, test } from "vitest";
import { ProviderError } from "../../lib/client/provider-error.ts";
import type { Around } from "../support/faults.ts";
import { createGate } from "../support/gate.ts";
import { json, scriptProvider, startProvider } from "../support/provider.ts";
import { requestOf, resumeInstance, updateContainer, updatePolicy } from "../support/requests.ts";
import { createWorld, type World } from "../support/world.ts";

const POLICY_LANE = "local/policy/1234567/76/1";

const linesOf = (world: World, commandId: string) =>
  world.log.lines.filter(({ fields }) => fields.commandId === commandId);
const messages = (world: World, commandId: string) =>
  linesOf(world, commandId).map(({ message }) => message);

/** A request that is told apart from others by more than its command id. */
const traced = (commandId: string) => ({
  ...updatePolicy(commandId),
  metadata: { id: `event-${commandId}`, commandId, correlationId: `trace-${commandId}` },
});

test("a command's life is three lines, each of which says whose it is", async () => {
  const world = await createWorld({ provider: startProvider });

  await world.handle(traced("c1"));

  const whose = {
    correlationId: "trace-c1",
    commandId: "c1",
    sender: "own",
    account: "local",
    lane: POLICY_LANE,
    operation: "update-policy",
  };
  expect(world.log.lines).toEqual([
    { level: "info", message: "command accepted", fields: whose },
    {
      level: "info",
      message: "request sent",
      fields: { ...whose, attempt: 1, durationMs: 0, disposition: "answered" },
    },
    {
      level: "info",
      message: "command ended",
      fields: { ...whose, outcome: "succeeded", attempts: 1, durationMs: 0 },
    },
  ]);
});

test("a request that is refused is logged with status and disposition, the end with its reason", async () => {
  const provider = scriptProvider({ "PATCH ": () => json(400, { message: "hush" }) });
  const world = await createWorld({ provider: () => provider });

  await world.handle(updatePolicy("c1"));

  expect(linesOf(world, "c1").slice(1)).toMatchObject([
    {
      message: "request sent",
      fields: { disposition: "permanent", errorCode: "refused", status: 400 },
    },
    { message: "command ended", fields: { outcome: "failed", reason: "refused" } },
  ]);
  expect(JSON.stringify(world.log.lines)).not.toContain("hush");
});

test("a request for which there is no turn is logged as held back", async () => {
  const error = new ProviderError({
    disposition: "throttled",
    code: "budget-spent",
    message: "not sent",
    retryAfterMs: 7_000,
  });
  const client = { call: () => Promise.reject(error) };
  const world = await createWorld({ provider: startProvider, accounts: { local: { client } } });

  await world.handle(updatePolicy("c1"));

  expect(linesOf(world, "c1").at(-1)).toMatchObject({
    message: "request held back",
    fields: { disposition: "throttled", errorCode: "budget-spent", status: undefined },
  });
});

test("how long the provider took is in the line of the request", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: startProvider, around: gate.around });
  const sending = gate.hold("fetch PATCH");
  const handling = world.handle(updatePolicy("c1"));
  await sending.reached;

  await world.clock.advance(1_500);
  sending.open();
  await handling;

  expect(linesOf(world, "c1")[1]).toMatchObject({
    message: "request sent",
    fields: { durationMs: 1_500 },
  });
});

test("a command that comes back from the queue, and its end by its task, keep its fields", async () => {
  let asked = 0;
  const provider = scriptProvider({
    "PATCH ": () => {
      asked += 1;
      return asked === 1 ? json(429, {}, { "retry-after": "7" }) : json(200, { tasks: ["t1"] });
    },
    "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "FINISHED" }),
  });
  const world = await createWorld({ provider: () => provider });

  await world.send(updateContainer("c1"));
  await world.untilQuiet();

  expect(world.log.lines.map(({ message }) => message)).toEqual([
    "command accepted",
    "request sent",
    "request sent",
    "command ended",
  ]);
  const ids = world.log.lines.map(({ fields }) => [fields.correlationId, fields.sender]);
  expect(ids).toEqual(Array.from({ length: 4 }, () => ["c1", "own"]));
  expect(world.log.lines.map(({ fields }) => fields.attempt)).toEqual([undefined, 1, 2, undefined]);
});

test("lines of two commands that are handled at the same time carry their own ids", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: startProvider, around: gate.around });
  const sending = gate.hold("fetch PATCH");
  const slow = world.handle(traced("c1"));
  await sending.reached;

  await world.handle(resumeInstance("c2"));
  sending.open();
  await slow;

  const expected = ["command accepted", "request sent", "command ended"];
  expect(messages(world, "c1")).toEqual(expected);
  expect(messages(world, "c2")).toEqual(expected);
  expect(new Set(linesOf(world, "c1").map(({ fields }) => fields.correlationId))).toEqual(
    new Set(["trace-c1"]),
  );
  expect(new Set(linesOf(world, "c2").map(({ fields }) => fields.lane)).size).toBe(1);
  expect(world.log.lines).toHaveLength(6);
});

test("the end of a command whose time is over keeps its fields", async () => {
  const provider = scriptProvider({ "PATCH ": () => json(429, {}, { "retry-after": "600" }) });
  const world = await createWorld({ provider: () => provider });
  const deadline = new Date(world.clock.now() + 60_000).toISOString();
  const { metadata, data } = traced("c1");
  await world.handle({ metadata, data: { ...data, deadline } });
  await world.clock.advance(60_000);

  await world.poll(1_000);

  expect(world.log.lines.at(-1)).toMatchObject({
    message: "command ended",
    fields: { correlationId: "trace-c1", commandId: "c1", reason: "deadline", durationMs: 60_000 },
  });
});

test("a repeat of a command is logged as nothing new", async () => {
  const world = await createWorld({ provider: startProvider });
  await world.handle(updatePolicy("c1"));
  const before = world.log.lines.length;

  await world.handle(updatePolicy("c1"));

  expect(world.log.lines).toHaveLength(before);
});

test("an event that is not published is logged with the command that it tells of", async () => {
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

test("a rejection is logged with the command id that was asked for", async () => {
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

test("what the poller cannot work off is logged with its command", async () => {
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
    message: "due entry not worked off, it stays due",
    fields: { key: "command#own/c1", sender: "own", errorMessage: "away" },
  });
});

test("the end of a task that cannot be told is logged with task and command", async () => {
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
    message: "message not handled, it comes again",
    fields: { correlationId: "trace-c1", commandId: "c1", lane: POLICY_LANE, errorMessage: "away" },
  });
});
