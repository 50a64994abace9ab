import { describe, expect, test } from "vitest";
import { createGate } from "../../support/gate.ts";
import { json, scriptProvider, startProvider } from "../../support/provider.ts";
import { requestOf, updateContainer, updatePolicy } from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

const policy = (fields: object = {}) =>
  json(200, {
    id: 1,
    name: "p",
    action: "volume_snapshot",
    project_id: 1234567,
    region_id: 76,
    status: "paused",
    user_id: 1,
    schedules: [],
    ...fields,
  });

test("a command with tasks is accepted, followed and published", async () => {
  const world = await createWorld({ provider: startProvider });

  await world.send(updateContainer("c1"));
  await world.untilQuiet();

  expect(world.publishedTypes()).toEqual(["CommandAccepted", "TaskFinished", "CommandSucceeded"]);
  expect((await world.command("c1"))?.state).toMatchObject({ status: "succeeded" });
  expect(world.errors).toEqual([]);
});

test("every event of a command names its cause", async () => {
  const world = await createWorld({ provider: startProvider });
  const { data } = updateContainer("c1");

  await world.send(requestOf("c1", data, { correlationId: "order-7" }));
  await world.untilQuiet();

  for (const { metadata, data: told } of world.bus.published()) {
    expect(metadata).toMatchObject({
      commandId: "c1",
      account: "local",
      correlationId: "order-7",
      causationId: "event-c1",
    });
    expect(told.operation).toBe("update-container");
  }
});

test("the lane passes to the next command at once, without the poller", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: startProvider, around: gate.around });
  const sending = gate.hold("fetch PATCH");
  const first = world.handle(updatePolicy("c1"));
  await sending.reached;
  await world.handle(updatePolicy("c2"));
  expect((await world.command("c2"))?.state).toEqual({ status: "waiting" });

  sending.open();
  await first;
  await world.deliver();

  expect(world.publishedTypes("c2")).toEqual(["CommandAccepted", "CommandSucceeded"]);
});

test("commands on different resources do not wait for each other", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: startProvider, around: gate.around });
  const sending = gate.hold("fetch PATCH");
  const first = world.handle(updateContainer("c1"));
  await sending.reached;

  await world.handle(updatePolicy("c2"));

  expect(world.publishedTypes("c2")).toEqual(["CommandAccepted", "CommandSucceeded"]);
  sending.open();
  await first;
});

describe("the provider's answer", () => {
  test("is in the event when it is small, with large integers as text", async () => {
    const provider = scriptProvider({ "PATCH ": () => policy({ size: 2n ** 64n - 1n }) });
    const world = await createWorld({ provider: () => provider });

    await world.handle(updatePolicy("c1"));

    expect(world.bus.published().at(-1)?.data.result).toMatchObject({
      status: "paused",
      size: "18446744073709551615",
    });
  });

  test("is left out of the event when it is large", async () => {
    const provider = scriptProvider({ "PATCH ": () => policy({ note: "é".repeat(64_000) }) });
    const world = await createWorld({ provider: () => provider });

    await world.handle(updatePolicy("c1"));

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect(world.bus.published().at(-1)?.data).not.toHaveProperty("result");
  });

  test("that breaks the contract of an immediate operation does not fail the command", async () => {
    const provider = scriptProvider({ "PATCH ": () => json(200, { surprise: true }) });
    const world = await createWorld({ provider: () => provider });

    await world.handle(updatePolicy("c1"));

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("that refuses with a hundred long texts fits an event", async () => {
    const fields = Array.from({ length: 100 }, (_, index) => [`f${index}`, ["é".repeat(900)]]);
    const body = { message: "no", invalid_fields: Object.fromEntries(fields) };
    const provider = scriptProvider({ "PATCH ": () => json(400, body) });
    const world = await createWorld({ provider: () => provider });

    await world.handle(updatePolicy("c1"));

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "CommandFailed"]);
    expect(world.bus.published().at(-1)?.data.problems.length).toBeGreaterThan(10);
  });
});

test("a task that fails with a very long reason is published with the start of the reason", async () => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET ": () => json(200, { id: "t1", state: "ERROR", error: "é".repeat(500_000) }),
  });
  const world = await createWorld({ provider: () => provider });

  await world.send(updateContainer("c1"));
  await world.untilQuiet();

  const failed = world.bus.published().find(({ detailType }) => detailType === "TaskFailed");
  expect(failed?.data.problems[0].rule).toBe(`${"é".repeat(500)}…`);
  const stored = JSON.stringify(await world.ledger.read("task#local/t1"));
  expect(stored.length).toBeLessThan(2_000);
});

test("a refused API key does not fail the command", async () => {
  let isValid = false;
  const provider = scriptProvider({ "PATCH ": () => (isValid ? policy() : json(401, {})) });
  const world = await createWorld({ provider: () => provider });
  await world.send(updatePolicy("c1"));
  await world.pass(120_000);
  expect(world.publishedTypes()).toEqual(["CommandAccepted"]);

  isValid = true;
  await world.untilQuiet();

  expect(world.bus.published().at(-1)?.data).toMatchObject({ outcome: "done", lostReplies: 0 });
});

test("a command fails when its account is removed before the command runs", async () => {
  const accounts: Record<string, object> = { local: {} };
  const gate = createGate();
  const world = await createWorld({ provider: startProvider, accounts, around: gate.around });
  const publishing = gate.hold("bus.publish");
  const handling = world.handle(updatePolicy("c1"));
  await publishing.reached;

  delete accounts.local;
  publishing.open();
  await handling;

  expect(world.bus.published().at(-1)).toMatchObject({
    detailType: "CommandFailed",
    data: { reason: "refused", attempts: 0, problems: [{ path: "account" }] },
  });
});
