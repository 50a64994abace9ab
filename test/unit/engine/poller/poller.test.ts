import { describe, expect, test } from "vitest";
import { pollDue } from "../../../../lib/engine/poller/poll.ts";
import { createFaults } from "../../../support/faults.ts";
import { createGate } from "../../../support/gate.ts";
import { json, scriptProvider, startProvider } from "../../../support/provider.ts";
import { requestOf, updateContainer, updatePolicy } from "../../../support/requests.ts";
import { createWorld, type World } from "../../../support/world.ts";

const running = () =>
  scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/": () => json(200, { id: "t1", state: "RUNNING" }),
  });
const finished = () => json(200, { id: "t1", state: "FINISHED" });

test("with nothing outstanding a run reads the lease and queries once", async () => {
  const faults = createFaults();
  const world = await createWorld({ provider: running, around: faults.around });

  await world.poll();

  expect(faults.calls).toEqual(["ledger.read lease#poll-tasks", "ledger.listDue"]);
});

test("wake signals lead from check to check, and an end is seen within seconds", async () => {
  const world = await createWorld({ provider: startProvider });
  await world.send(updateContainer("c1"));
  await world.deliver();

  await world.poll();

  expect(world.publishedTypes().at(-1)).toBe("CommandSucceeded");
  const { durationMs } = world.bus.published().at(-1)!.data;
  expect(durationMs).toBeGreaterThanOrEqual(10_000);
  expect(durationMs).toBeLessThanOrEqual(13_000);
});

test("a function that writes a due time soon sends a wake signal for it", async () => {
  const provider = running();
  const world = await createWorld({ provider: () => provider });
  const start = world.clock.now();
  await world.handle(updateContainer("c1"));
  provider.answer("PATCH ", () => json(429, {}, { "retry-after": "7" }));

  await world.handle(updatePolicy("c2"));

  expect(world.wakes).toEqual([start + 2_000, start + 7_000]);
});

test("a run with no time left and due entries wakes the next run at once", async () => {
  const world = await createWorld({ provider: running });
  await world.handle(updateContainer("c1"));
  await world.clock.advance(3_000);
  const now = world.clock.now();

  const budget = { endsAt: now, signal: new AbortController().signal };
  await pollDue(world.newInvocation().deps, budget);

  expect(world.wakes.at(-1)).toBe(now);
});

test.each([
  ["a young task in time", 3_000, 1],
  ["an old task by the schedule", 800_000, 0],
])(
  "a run that ends before the next check of %s leaves it to the next run",
  async (_, age, count) => {
    const world = await createWorld({ provider: running });
    await world.handle(updateContainer("c1"));
    await world.clock.advance(age);
    const now = world.clock.now();
    const before = world.wakes.length;

    const budget = { endsAt: now + 500, signal: new AbortController().signal };
    await pollDue(world.newInvocation().deps, budget);

    const wakes = world.wakes.slice(before);
    expect(wakes).toHaveLength(count);
    for (const at of wakes) expect(at).toBeLessThanOrEqual(now + 5_000);
  },
);

test("a check that finds nothing new writes nothing", async () => {
  const world = await createWorld({ provider: running });
  await world.handle(updateContainer("c1"));
  const command = await world.ledger.read("command#own/c1");
  const task = await world.ledger.read("task#local/t1");

  await world.clock.advance(31_000);
  await world.poll();

  expect(await world.ledger.read("command#own/c1")).toEqual(command);
  expect(await world.ledger.read("task#local/t1")).toEqual(task);
});

describe("the lease of the poller", () => {
  const leased = async (until: (now: number) => number): Promise<World> => {
    const world = await createWorld({ provider: startProvider });
    await world.handle(updateContainer("c1"));
    await world.clock.advance(10_000);
    const value = { by: "somebody", until: until(world.clock.now()) };
    await world.ledger.write({ key: "lease#poll-tasks", version: 1, value });
    return world;
  };

  test("keeps a second run from doing the same work", async () => {
    const world = await leased((now) => now + 1_000);

    await world.poll(500);

    expect(world.publishedTypes()).toEqual(["CommandAccepted"]);
  });

  test("leaves what its holder may not see to a run a second later", async () => {
    const world = await leased((now) => now + 5_000);
    const before = world.wakes.length;

    await world.poll(500);

    expect(world.wakes.slice(before)).toEqual([world.clock.now() + 1_000]);
  });

  test("is taken over when its holder has died", async () => {
    const world = await leased((now) => now);

    await world.poll();

    expect(world.publishedTypes().at(-1)).toBe("CommandSucceeded");
  });

  /** Whether the lease is held at each read of a task, with this many commands. */
  const heldWhileReading = async (commandCount: number): Promise<readonly boolean[]> => {
    const provider = running();
    const world = await createWorld({
      provider: () => provider,
      accounts: { local: { canList: false } },
    });
    const isHeld: boolean[] = [];
    provider.answer("GET /v1/tasks/", async () => {
      const lease = await world.ledger.read("lease#poll-tasks");
      isHeld.push(Number(lease?.value.until) > world.clock.now());
      return json(200, { id: "t1", state: "RUNNING" });
    });
    provider.answer("PATCH ", ({ target }) => json(200, { tasks: [target.split("/").at(-1)] }));
    for (let index = 0; index < commandCount; index += 1) {
      const params = { project_id: 1, region_id: 1, container_name: `web-${index}` };
      await world.handle(
        requestOf(`c${index}`, { operation: "update-container", params, body: {} }),
      );
    }

    await world.poll(20_000);

    expect(isHeld.length).toBeGreaterThan(commandCount);
    return isHeld;
  };

  test("is held until the run ends", async () => {
    expect(await heldWhileReading(20)).not.toContain(false);
  });

  test("is not written for a short run with little to do, except at its end", async () => {
    expect(await heldWhileReading(2)).not.toContain(true);
  });

  test("is released, so that the next run need not wait", async () => {
    const world = await leased(() => 0);

    await world.poll();

    expect((await world.ledger.read("lease#poll-tasks"))?.value.until).toBe(0);
  });

  test("is not needed for correctness: two runs at once publish the same events", async () => {
    const gate = createGate();
    const provider = running();
    const world = await createWorld({ provider: () => provider, around: gate.around });
    await world.handle(updateContainer("c1"));
    await world.handle(updateContainer("c2"));
    provider.answer("GET /v1/tasks/", finished);
    provider.answer("PATCH ", () => json(200, { tasks: [] }));
    await world.clock.advance(2_000);

    const slow = gate.hold("ledger.write task#local/t1");
    const first = world.poll();
    await slow.reached;
    await world.clock.advance(60_000);
    await world.poll();
    slow.open();
    await first;
    await world.untilQuiet();

    expect(new Set(world.publishedTypes("c1"))).toEqual(
      new Set(["CommandAccepted", "TaskFinished", "CommandSucceeded"]),
    );
    expect(provider.count("PATCH ")).toBe(2);
  });
});

test("the events of an end that the bus did not take are published again in their order", async () => {
  const world = await createWorld({ provider: startProvider });
  let refusals = 2;
  world.bus.refuse(({ detailType }) => {
    if (detailType !== "CommandSucceeded" || refusals === 0) return false;
    refusals -= 1;
    return true;
  });
  await world.send(updateContainer("c1"));

  await world.untilQuiet();

  const [accepted, ...ends] = world.publishedTypes();
  expect(accepted).toBe("CommandAccepted");
  expect(ends).toEqual(["TaskFinished", "TaskFinished", "TaskFinished", "CommandSucceeded"]);
});

test("of two events of one command only the one that the bus refused is published again", async () => {
  const world = await createWorld({ provider: startProvider });
  const deadline = new Date(world.clock.now() + 60_000).toISOString();
  world.bus.refuse(() => true);
  await world.handle(updateContainer("c1", {}, { deadline })).catch(() => undefined);
  world.bus.refuse(({ detailType }) => detailType === "CommandFailed");
  await world.clock.advance(60_000);
  await world.poll();
  expect(world.publishedTypes()).toEqual(["CommandAccepted"]);

  world.bus.refuse(() => false);
  await world.untilQuiet();

  expect(world.publishedTypes()).toEqual(["CommandAccepted", "CommandFailed"]);
});

test("an account with tasks that cannot be checked does not stop the others", async () => {
  const provider = running();
  provider.answer("GET /v1/tasks/", finished);
  const broken = {
    client: {
      call: () => Promise.reject(new Error("the client is broken")),
    },
  };
  const accounts: Record<string, object> = { first: {}, local: {} };
  const world = await createWorld({ provider: () => provider, accounts });
  await world.handle(updateContainer("c1", {}, { account: "first" }));
  await world.handle(updateContainer("c2", {}, { account: "local" }));
  accounts.first = broken;

  await world.clock.advance(2_000);
  await world.poll();

  expect(world.publishedTypes("c2").at(-1)).toBe("CommandSucceeded");
  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted"]);
  expect(world.errors).toEqual([]);
});

test("a stopped run releases its lease and leaves the rest to the next run", async () => {
  const world = await createWorld({ provider: startProvider });
  await world.handle(updateContainer("c1"));
  await world.clock.advance(10_000);
  const endsAt = world.clock.now() + 50_000;

  await pollDue(world.newInvocation().deps, { endsAt, signal: AbortSignal.abort() });
  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted"]);
  await world.poll();

  expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
});
