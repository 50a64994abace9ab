import { expect, test } from "vitest";
import { aiWatches, refuseList, watchFor } from "../../../../lib/jobs/ai-tasks/ai-watch.ts";
import { refuseKey } from "../../../../lib/provider/api-key.ts";
import { newRateLimit, rateLimits } from "../../../../lib/provider/rate-limit.ts";
import { startProvider } from "../../../support/provider.ts";
import { updatePolicy } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

test("the poller publishes the events that a process left in the outbox of an account's key", async () => {
  const world = await createWorld({ provider: startProvider });
  const now = world.clock.now();
  const refused = refuseKey(newRateLimit("local"), { now, sentAt: now });
  await rateLimits.write(world.ledger, "local", undefined, refused);
  await world.clock.advance(5_000);

  await world.poll();

  expect(world.publishedTypes()).toEqual(["AccountKeyRefused"]);
  expect(await world.dueEntries()).toEqual([]);
});

test("an unpublished refusal of the AI task list is published by the poller", async () => {
  const world = await createWorld({ provider: startProvider });
  const refusal = { status: 403, problem: "list-ai-tasks: 403 forbidden" };
  const now = world.clock.now();
  const refused = refuseList(watchFor(undefined, undefined), "local", { now, ...refusal });
  await aiWatches.write(world.ledger, "local", undefined, refused);
  await world.clock.advance(5_000);

  await world.poll();

  expect(world.publishedTypes()).toEqual(["AiTaskListRefused"]);
  expect(await world.dueEntries()).toEqual([]);
});

test("the event of an end that the bus refused is published in a later round of the same run", async () => {
  const world = await createWorld({ provider: startProvider });
  const backAt = world.clock.now() + 40_000;
  world.bus.refuse(
    ({ detailType }) => detailType === "CommandSucceeded" && world.clock.now() < backAt,
  );
  await world.send(updatePolicy("c1"));
  await world.deliver();
  const state = (await world.command("c1"))?.state;

  await world.poll();

  expect(state).toMatchObject({ status: "succeeded", settled: false });
  expect((await world.command("c1"))?.state).toMatchObject({ settled: true });
  expect(world.counted).toContain("DueEntryLeft");
});
