import { expect, test } from "vitest";
import type { Operation } from "../../../lib/contract/operation.ts";
import { notSent } from "../../../lib/provider/client.ts";
import { ProviderError } from "../../../lib/provider/provider-error.ts";
import type { Around } from "../../support/faults.ts";
import { createGate } from "../../support/gate.ts";
import { json, scriptProvider, startProvider } from "../../support/provider.ts";
import { resumeInstance, updateContainer, updatePolicy } from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";
import { linesOf, POLICY_LANE, traced } from "./traced.ts";

const messages = (world: World, commandId: string) =>
  linesOf(world, commandId).map(({ message }) => message);

test("a command writes three log lines, each with the command's id and sender", async () => {
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

test("a request without a permit is logged with how long it waited", async () => {
  const error = new ProviderError({
    disposition: "throttled",
    code: "budget-spent",
    message: "not sent",
    retryAfterMs: 7_000,
  });
  const call = async () => {
    await world.clock.advance(5_000);
    throw error;
  };
  const accounts = { local: { client: { call } } };
  const world = await createWorld({ provider: startProvider, accounts });

  await world.handle(updatePolicy("c1"));

  expect(linesOf(world, "c1").at(-1)).toMatchObject({
    message: "request held back",
    fields: {
      disposition: "throttled",
      errorCode: "budget-spent",
      status: undefined,
      durationMs: 5_000,
    },
  });
});

test("a request for which no time is left counts as held back, not as an attempt", async () => {
  const call = async (operation: Operation) => {
    throw notSent(operation);
  };
  const world = await createWorld({
    provider: startProvider,
    accounts: { local: { client: { call } } },
  });

  await world.handle(updatePolicy("c1"));

  expect(linesOf(world, "c1").at(-1)).toMatchObject({
    message: "request held back",
    fields: { errorCode: "aborted" },
  });
  expect(await world.command("c1")).toMatchObject({ attemptCount: 0 });
});

test("the line of a request has the time that the provider took", async () => {
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

test("the line of a request leaves out the time that the ledger took for the intent", async () => {
  const around: Around = async ({ name }, effect) => {
    if (name.startsWith("ledger.write")) await world.clock.advance(700);
    return effect();
  };
  const world = await createWorld({ provider: startProvider, around });

  await world.handle(updatePolicy("c1"));

  expect(linesOf(world, "c1")[1]).toMatchObject({
    message: "request sent",
    fields: { durationMs: 0 },
  });
});

test("a command that comes back from the queue keeps its fields, and so does its end by a task", async () => {
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

test("the end of a command at its deadline keeps its fields", async () => {
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

test("a repeat of a command logs nothing new", async () => {
  const world = await createWorld({ provider: startProvider });
  await world.handle(updatePolicy("c1"));
  const before = world.log.lines.length;

  await world.handle(updatePolicy("c1"));

  expect(world.log.lines).toHaveLength(before);
});
