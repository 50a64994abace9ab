import { describe, expect, it } from "vitest";
import { createHandler } from "../../functions/intake/handler.ts";
import { updatePolicy } from "../support/requests.ts";
import { createFunctionWorld, failing } from "./function-world.ts";

const EVENT = {
  version: "0",
  id: "7bf73129-1428-4cd3-a780-95db273d1602",
  "detail-type": "CommandRequested",
  source: "team",
  account: "own",
  time: "2026-01-01T00:00:00Z",
  region: "eu-west-1",
  resources: [],
  detail: updatePolicy("c1"),
};

const createIntake = async (around?: Parameters<typeof createFunctionWorld>[0]) => {
  const world = await createFunctionWorld(around);
  const handler = createHandler(async () => {
    const { commands, log } = await world.deps();
    return { intake: { ...commands, eventSource: "skyhook", reactions: [] }, log };
  });
  return { world, handler };
};

describe("intake", () => {
  it("rejects at once what is not allowed, and binds its log to the invocation", async () => {
    const { world, handler } = await createIntake();
    const context = world.contextOf(30_000);

    await handler({ ...EVENT, account: "999999999999" }, context);

    const [message] = await world.queue.receive(10, 1_000);
    expect(message).toBeUndefined();
    expect(world.told("c1")).toEqual(["CommandRejected"]);
    expect(world.bound).toEqual([context]);
  });

  it("counts what no rule sends", async () => {
    const { world, handler } = await createIntake();

    await handler(EVENT, world.contextOf(30_000));

    expect(world.counted).toEqual(["EventIgnored not-an-event"]);
  });

  it("fails, so that the event comes again, when a rejection cannot be told", async () => {
    const { world, handler } = await createIntake(failing("ledger.read"));

    const handling = handler({ ...EVENT, account: "999999999999" }, world.contextOf(30_000));

    await expect(handling).rejects.toThrow("ledger.read is away");
    expect(world.log.lines.at(-1)).toMatchObject({
      message: "invocation failed",
      fields: { eventId: EVENT.id, sender: "999999999999", errorMessage: "ledger.read is away" },
    });
  });
});
