import { expect, test } from "vitest";
import { json } from "../../../support/provider.ts";
import { aiTask, idOf } from "./ai-provider.ts";
import { startWatching, watchedWorld } from "./start-watching.ts";

const MINUTE_MS = 60_000;

test.each([
  [403, "forbidden"],
  [404, "not-found"],
])(
  "a list that is refused with %i makes one event and one log line over many runs",
  async (status, code) => {
    const { world, provider } = watchedWorld([]);
    provider.beforeRequest(() => json(status, { message: "no streaming product" }));

    const ends: unknown[] = [];
    for (let round = 1; round <= 5; round++) {
      ends.push(await world.run());
      await world.clock.advance(MINUTE_MS);
    }

    expect(ends).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(world.published()).toMatchObject([
      {
        detailType: "AiTaskListRefused",
        metadata: { account: "local" },
        data: {
          since: "2026-01-01T00:00:00.000Z",
          status,
          problem: `list-ai-tasks: ${status} ${code}: no streaming product`,
        },
      },
    ]);
    expect(world.log.lines).toMatchObject([
      {
        level: "warn",
        message: "list of AI tasks refused; each run asks again",
        fields: { account: "local", status },
      },
    ]);
  },
);

test("a list that is shown again after a refusal is published, and watching continues", async () => {
  const { world, provider } = await startWatching([aiTask(1, "STARTED")]);
  provider.beforeRequest(() => json(403, {}));
  await world.run();
  await world.clock.advance(MINUTE_MS);
  provider.beforeRequest(() => undefined);
  provider.show([aiTask(1, "SUCCESS")]);

  await world.run();
  await world.run();

  expect(world.published().map(({ detailType, data }) => [detailType, data])).toMatchObject([
    ["AiTaskListRefused", { since: "2026-01-01T00:00:00.000Z" }],
    [
      "AiTaskListAccepted",
      { since: "2026-01-01T00:01:00.000Z", refusedSince: "2026-01-01T00:00:00.000Z" },
    ],
    ["AiTaskEnded", { taskId: idOf(1) }],
  ]);
});

test("a second refusal has another event", async () => {
  const { world, provider } = await startWatching([]);
  for (let round = 1; round <= 2; round++) {
    provider.beforeRequest(() => json(404, {}));
    await world.run();
    provider.beforeRequest(() => undefined);
    await world.run();
  }

  const published = world.published();

  expect(published.map(({ detailType }) => detailType)).toEqual([
    "AiTaskListRefused",
    "AiTaskListAccepted",
    "AiTaskListRefused",
    "AiTaskListAccepted",
  ]);
  expect(new Set(published.map(({ id }) => id)).size).toBe(4);
});

test("the event of a refusal that the bus refuses is published by the poller", async () => {
  const { world, provider } = watchedWorld([]);
  provider.beforeRequest(() => json(403, {}));
  world.bus.refuse(() => true);
  await world.run();
  world.bus.refuse(() => false);

  await world.poll();

  expect(world.published().map(({ detailType }) => detailType)).toEqual(["AiTaskListRefused"]);
  expect((await world.watchRecord())?.outbox).toEqual([]);
});

test("a refusal is remembered when the filter changes", async () => {
  const { world, provider } = watchedWorld([]);
  provider.beforeRequest(() => json(403, {}));
  await world.run();

  await world.run({ taskName: "transcription" });

  expect(world.published()).toHaveLength(1);
});

test("an answer of 400 fails the run", async () => {
  const { world, provider } = watchedWorld([]);
  provider.beforeRequest(() => json(400, { message: "not like this" }));

  expect(await world.run()).toMatchObject({ disposition: "permanent", code: "refused" });
  expect(world.published()).toEqual([]);
});
