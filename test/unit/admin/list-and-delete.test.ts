import { describe, expect, test } from "vitest";
import { deleteDeadLetters, listDeadLetters } from "../../../lib/admin/dead-letters.ts";
import { updatePolicy } from "../../support/requests.ts";
import { buryAll, openRecovery } from "./dead-letter-world.ts";

describe("the list of dead letters", () => {
  test("explains each, and releases all of them", async () => {
    const { world, deps } = await openRecovery();
    await world.send(updatePolicy("p1"));
    await world.send("{");
    await buryAll(world);
    const first = await listDeadLetters(deps);

    const second = await listDeadLetters(deps);

    expect(second).toEqual(first);
    expect(second).toMatchObject({
      deadLetters: [
        { commandId: "p1", advice: "redrive", receiveCount: 10 },
        { kind: "unreadable", advice: "delete", receiveCount: 10 },
      ],
      more: 0,
    });
  });

  test("counts the dead letters that another admin client holds", async () => {
    const { world, deps, deadLetters } = await openRecovery();
    await world.send(updatePolicy("p1"));
    await buryAll(world);
    await deadLetters.hold();

    expect(await listDeadLetters(deps)).toEqual({ deadLetters: [], more: 1 });
  });

  test("ends at about a hundred, and counts the others", async () => {
    const { world, deps } = await openRecovery();
    for (let n = 0; n < 130; n += 1) await world.send("{");
    for (let round = 0; round < 13; round += 1) await buryAll(world);

    const { deadLetters, more } = await listDeadLetters(deps);

    expect(deadLetters).toHaveLength(100);
    expect(more).toBe(30);
  });

  test("releases every dead letter when the ledger does not answer", async () => {
    const { world, deps, deadLetters } = await openRecovery();
    await world.send(updatePolicy("p1"));
    await buryAll(world);
    const silent = { read: () => Promise.reject(new Error("not reached")) };
    const context = () => ({ ...deps.context(), ledger: { ...deps.context().ledger, ...silent } });

    await expect(listDeadLetters({ deadLetters, context })).rejects.toThrow("not reached");

    expect(await deadLetters.hold()).toHaveLength(1);
  });
});

describe("deleting dead letters", () => {
  test("removes those that have no further effect", async () => {
    const { world, deps, idOf, deadLetters } = await openRecovery();
    await world.send("{");
    await buryAll(world);

    const outcomes = await deleteDeadLetters(deps, { kind: "ids", ids: [await idOf()] }, false);

    expect(outcomes).toMatchObject([{ outcome: "deleted" }]);
    expect(await deadLetters.count()).toBe(0);
  });

  test("keeps a request that was never accepted, unless --force is given", async () => {
    const { world, deps, idOf, deadLetters } = await openRecovery();
    await world.send(updatePolicy("p1"));
    await buryAll(world);
    const ids = [await idOf()];

    const refused = await deleteDeadLetters(deps, { kind: "ids", ids }, false);
    expect(await deadLetters.count()).toBe(1);
    const forced = await deleteDeadLetters(deps, { kind: "ids", ids }, true);

    expect(refused).toMatchObject([
      {
        outcome: "kept",
        why: "deleting it would lose a command; add --force to delete it anyway; not in the ledger: never accepted",
      },
    ]);
    expect(forced).toMatchObject([{ outcome: "deleted" }]);
    expect(await deadLetters.count()).toBe(0);
  });
});
