import { expect, test } from "vitest";
import { budgets, newBudget, refuseKey } from "../../lib/ledger/budget.ts";
import { startProvider } from "../support/provider.ts";
import { createWorld } from "../support/world.ts";

test("what a process left to be told of an account's key is published by the poller", async () => {
  const world = await createWorld({ provider: startProvider });
  const now = world.clock.now();
  const refused = refuseKey(newBudget("local"), { now, sentAt: now });
  await budgets.write(world.ledger, "local", undefined, refused);
  await world.clock.advance(5_000);

  await world.poll();

  expect(world.told()).toEqual(["AccountKeyRefused"]);
  expect(await world.dueEntries()).toEqual([]);
});
