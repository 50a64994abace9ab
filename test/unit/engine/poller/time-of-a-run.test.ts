import { expect, test } from "vitest";
import { commandKey, commands } from "../../../../lib/engine/command.ts";
import { lanes } from "../../../../lib/engine/lane.ts";
import { pollDue } from "../../../../lib/engine/poller/poll.ts";
import type { Clock } from "../../../../lib/platform/ports/clock.ts";
import { commandOf } from "../../../support/commands.ts";
import type { Around } from "../../../support/faults.ts";
import { json, scriptProvider } from "../../../support/provider.ts";
import { updateContainer } from "../../../support/requests.ts";
import { createWorld, type World } from "../../../support/world.ts";

const STEP_MS = 10;

const finishing = () =>
  scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/": () => json(200, { id: "t1", state: "FINISHED" }),
  });

/**
 * A poller run that does not advance the clock: the test does, until the run is over.
 * @param stopAfterMs when the process of the run stops, which ends the run and all its sleeps
 */
const runFor = async (
  world: World,
  durationMs: number,
  stopAfterMs = durationMs,
): Promise<void> => {
  const over = new AbortController();
  const stopping = new AbortController();
  const start = world.clock.now();
  const budget = { endsAt: start + durationMs, signal: over.signal };
  const clock: Clock = {
    now: world.clock.now,
    sleep: (ms, signal = over.signal) =>
      world.clock.sleep(ms, AbortSignal.any([signal, stopping.signal])),
  };
  let isOver = false;
  const run = pollDue({ ...world.newInvocation().deps, clock }, budget).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await world.clock.advance(STEP_MS);
    if (world.clock.now() >= start + stopAfterMs) over.abort();
    if (over.signal.aborted && stopAfterMs < durationMs) stopping.abort();
  }
  await run;
};

/** A due command; every read of it waits for AWS in vain. */
const putHungCommand = async (world: World): Promise<void> => {
  const hung = commandOf({ sender: "own", id: "hung", state: { status: "accepted", lookAt: 1 } });
  await commands.write(world.ledger, commandKey(hung), undefined, hung);
};
const hang: Around = async (call, effect) => {
  if (call.name !== "ledger.read command#own/hung") return effect();
  await current.clock.sleep(12_000);
  throw Object.assign(new Error("no answer"), { name: "TimeoutError" });
};
let current: World;
const hangingWorld = async (): Promise<World> => {
  current = await createWorld({ provider: finishing, around: hang });
  await putHungCommand(current);
  return current;
};

test("a run with too many due lanes ends in time, and wakes the next run", async () => {
  const begunAt: number[] = [];
  const slow: Around = async (call, effect) => {
    if (!call.name.startsWith("ledger.read")) return effect();
    begunAt.push(world.clock.now());
    await world.clock.sleep(STEP_MS);
    return effect();
  };
  const world = await createWorld({ provider: finishing, around: slow });
  const start = world.clock.now();
  for (let index = 0; index < 1_000; index += 1) {
    const lane = { holder: `own/c${index}`, waiting: [], changedAt: start, checkAt: start };
    await lanes.write(world.ledger, `local/lane/${index}`, undefined, lane);
  }

  await runFor(world, 2_000);

  expect(world.clock.now() - start).toBeLessThanOrEqual(2_200);
  // Work in progress at the end is finished: eight lanes, a few operations each.
  expect(begunAt.filter((at) => at >= start + 2_000).length).toBeLessThanOrEqual(40);
  expect(begunAt.length).toBeGreaterThan(500);
  expect(world.wakes.at(-1)).toBeLessThanOrEqual(world.clock.now());
  expect(world.measured.map(({ name }) => name)).toEqual(["LedgerLag"]);
});

test("a read without an answer delays no task of another account", async () => {
  const world = await hangingWorld();
  const run = runFor(world, 20_000);
  await world.handle(updateContainer("c1"));

  await run;

  const end = world.bus.published().find(({ detailType }) => detailType === "CommandSucceeded");
  expect(end?.metadata.commandId).toBe("c1");
  expect(end?.data.durationMs).toBeLessThanOrEqual(4_000);
});

test("a read without an answer does not keep a run from ending and being counted", async () => {
  const world = await hangingWorld();
  const start = world.clock.now();

  await runFor(world, 6_000);

  expect(world.clock.now() - start).toBeLessThanOrEqual(8_000);
  expect(world.measured.map(({ name }) => name)).toEqual(["LedgerLag"]);
});

test("a run of a stopping process waits for work in progress, which may still write", async () => {
  const world = await hangingWorld();
  const start = world.clock.now();

  await runFor(world, 60_000, 1_000);

  expect(world.clock.now() - start).toBeGreaterThanOrEqual(12_000);
  expect(world.clock.now() - start).toBeLessThanOrEqual(12_500);
});

test("a task record that AWS does not return delays no task of another account", async () => {
  const world = await createWorld({
    provider: finishing,
    accounts: { local: {}, slow: {} },
    around: async (call, effect) => {
      if (call.name !== "ledger.read task#slow/t1") return effect();
      await world.clock.sleep(12_000);
      throw new Error("no answer");
    },
  });
  await world.handle(updateContainer("slow", {}, { account: "slow" }));
  await world.clock.advance(2_000);

  const run = runFor(world, 20_000);
  await world.handle(updateContainer("c1", {}, { account: "local" }));
  await run;

  const end = world.bus.published().find(({ detailType }) => detailType === "CommandSucceeded");
  expect(end?.metadata.commandId).toBe("c1");
  expect(end?.data.durationMs).toBeLessThanOrEqual(4_000);
});

test("reads without an answer in every place end one by one, and the run does not spin", async () => {
  const world = await hangingWorld();
  for (let index = 0; index < 20; index += 1) {
    const hung = commandOf({ sender: "own", id: `hung-${index}` });
    const due = { ...hung, state: { status: "accepted" as const, lookAt: 1 } };
    await commands.write(world.ledger, commandKey(due), undefined, due);
  }
  const { read } = world.ledger;
  let inVain = 0;
  world.ledger.read = async (key) => {
    if (!key.startsWith("command#own/hung-")) return read(key);
    inVain += 1;
    await world.clock.sleep(12_000);
    throw new Error("no answer");
  };

  await runFor(world, 30_000);

  expect(inVain).toBeGreaterThanOrEqual(16);
  expect(inVain).toBeLessThanOrEqual(24);
  expect(world.errors).toEqual([]);
});
