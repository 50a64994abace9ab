import { describe, expect, test } from "vitest";
import { pollDue } from "../../../../lib/engine/poller/poll.ts";
import { createPollerMemory } from "../../../../lib/engine/poller/poller-memory.ts";
import type { DueEntry } from "../../../../lib/platform/ports/ledger.ts";
import { json, scriptProvider, startProvider } from "../../../support/provider.ts";
import { updateContainer, updatePolicy } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

const running = () =>
  scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/": () => json(200, { id: "t1", state: "RUNNING" }),
  });

/** The world's ledger fails when too many queries come without time passing, which means a spinning poller. */
describe("the poller does not spin", () => {
  const stale: readonly DueEntry[] = [
    { key: "command#own/none", dueAt: 0 },
    { key: "command#own/c1", dueAt: 0 },
    { key: "lane#none", dueAt: 0 },
    { key: "task#local/none", dueAt: 0 },
    { key: "thing#from-another-release", dueAt: 0 },
  ];

  test.each(stale)("on a stale entry of the index: $key", async (entry) => {
    const world = await createWorld({ provider: running });
    await world.handle(updateContainer("c1"));
    const { listDue } = world.ledger;
    world.ledger.listDue = async (until, limit) => [entry, ...(await listDue(until, limit))];

    await world.poll();

    expect(world.errors).toEqual([]);
  });

  test("on a command that only a newer version can read", async () => {
    const world = await createWorld({ provider: running });
    const dueAt = world.clock.now();
    await world.ledger.write({ key: "command#own/newer", version: 1, dueAt, value: { state: {} } });
    const memory = createPollerMemory("one");

    // By the schedule, and whenever a run asks for a wake signal.
    for (const endsAt = world.clock.now() + 600_000; world.clock.now() < endsAt; ) {
      const budget = { endsAt: world.clock.now() + 50_000, signal: new AbortController().signal };
      const known = world.wakes.length;
      await world.drive(pollDue(world.newInvocation().deps, budget, memory));
      const [wakeAt = Number.POSITIVE_INFINITY] = world.wakes.slice(known);
      await world.clock.advance(Math.min(wakeAt - world.clock.now(), 60_000));
    }

    const left = world.counted.filter((name) => name === "DueEntryLeft");
    expect(left.length).toBeGreaterThanOrEqual(9);
    expect(left.length).toBeLessThanOrEqual(11);
  });

  test("while the bus accepts nothing", async () => {
    const world = await createWorld({ provider: startProvider });
    world.bus.refuse(() => true);
    await world.send(updatePolicy("c1"));
    await world.deliver();
    await world.clock.advance(31_000);
    await world.poll();
    expect(world.errors).toHaveLength(1);

    world.bus.refuse(({ detailType }) => detailType === "CommandSucceeded");
    await world.clock.advance(180_000);
    await world.deliver();
    await world.poll();

    expect((await world.command("c1"))?.state).toMatchObject({ settled: false });
    expect(world.errors).toHaveLength(1);
  });
});
