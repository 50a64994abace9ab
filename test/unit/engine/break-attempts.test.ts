import { expect, test } from "vitest";
import { breakAttempts } from "../../../lib/engine/attempt.ts";
import { createGate } from "../../support/gate.ts";
import { addOpenTasks } from "../../support/open-tasks.ts";
import { json, scriptProvider } from "../../support/provider.ts";
import { updateContainer, updatePolicy } from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

/** A world in which the attempt of `c1` gets no answer. */
const duringAttempt = async () => {
  const provider = scriptProvider({ "PATCH ": () => json(200, { tasks: [] }) });
  const gate = createGate();
  const world = await createWorld({ provider: () => provider, around: gate.around });
  const sending = gate.hold("fetch PATCH");
  void world.handle(updateContainer("c1"));
  await sending.reached;
  return world;
};

test("attempts of a dead process are repeated at once, and nothing else changes", async () => {
  const world = await duringAttempt();
  await world.handle(updateContainer("c2"));
  const behind = await world.ledger.read("command#own/c2");

  await breakAttempts(world.ledger, world.clock.now());
  const broken = await world.command("c1");
  await world.pass(2_000);

  expect(broken).toMatchObject({ lostReplies: 1, state: { notBefore: world.clock.now() - 2_000 } });
  expect((await world.ledger.read("command#own/c2"))?.version).toBeGreaterThanOrEqual(
    behind?.version ?? 0,
  );
  expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
  expect(world.publishedTypes("c2").at(-1)).toBe("CommandSucceeded");
});

test("attempts are repeated at once beside thousands of open tasks and an unreadable command", async () => {
  const world = await duringAttempt();
  const dueAt = world.clock.now();
  await world.ledger.write({ key: "command#own/newer", version: 1, dueAt, value: { state: {} } });
  await addOpenTasks(world, 10_000);

  await breakAttempts(world.ledger, world.clock.now());

  expect(await world.command("c1")).toMatchObject({ lostReplies: 1 });
});

test("a ledger without attempts stays unchanged", async () => {
  const provider = scriptProvider({ "PATCH ": () => json(429, {}, { "retry-after": "60" }) });
  const world = await createWorld({ provider: () => provider });
  await world.handle(updatePolicy("c1"));
  const before = await world.ledger.read("command#own/c1");

  await breakAttempts(world.ledger, world.clock.now());

  expect(await world.ledger.read("command#own/c1")).toEqual(before);
});
