import { describe, expect, test } from "vitest";
import { budgets, newBudget, refuseKey } from "../../lib/ledger/budget.ts";
import { createFaults, type FaultKind } from "../support/faults.ts";
import { startProvider } from "../support/provider.ts";
import { createWorld } from "../support/world.ts";
import { createAccountWorld, FIRST_KEY } from "./account-world.ts";

const KINDS: readonly FaultKind[] = ["killed", "fails before", "fails after"];

/** An episode that many processes have part in: each asks once, thirty seconds after the last. */
const runEpisode = async (strike?: { readonly nth: number; readonly kind: FaultKind }) => {
  const faults = createFaults();
  const world = await createAccountWorld({ around: faults.around });
  if (strike) faults.strike(strike.nth, strike.kind);
  const askAnew = async (): Promise<void> => {
    await world.read(world.open());
    await world.clock.advance(30_000);
  };

  world.accept();
  await askAnew();
  await askAnew();
  world.accept(FIRST_KEY);
  await askAnew();
  await askAnew();
  await world.publishDue();
  return {
    told: world.told(),
    calls: faults.calls.length,
    due: await world.ledger.listDue(Number.MAX_SAFE_INTEGER, 10),
  };
};

const { calls } = await runEpisode();
const NTHS = Array.from({ length: calls }, (_, index) => index + 1);

describe.each(KINDS)("when a call of a port is %s", (kind) => {
  test.each(NTHS)("the %ith: each end of the episode is told of, once", async (nth) => {
    const { told, due } = await runEpisode({ nth, kind });

    expect(told.map(([detailType]) => detailType)).toEqual([
      "AccountKeyRefused",
      "AccountKeyAccepted",
    ]);
    expect(told[1]?.[1].refusedSince).toBe(told[0]?.[1].since);
    expect(due).toEqual([]);
  });
});

test("what a process left to be told of is published by the poller", async () => {
  const world = await createWorld({ provider: startProvider });
  const now = world.clock.now();
  const refused = refuseKey(newBudget("local"), { now, sentAt: now });
  await budgets.write(world.ledger, "local", undefined, refused);
  await world.clock.advance(5_000);

  await world.poll();

  expect(world.told()).toEqual(["AccountKeyRefused"]);
  expect(await world.dueEntries()).toEqual([]);
});
