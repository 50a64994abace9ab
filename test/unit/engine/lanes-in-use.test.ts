import * as fc from "fast-check";
import { expect, test } from "vitest";
import { lanes } from "../../../lib/engine/lane.ts";
import { pollDue } from "../../../lib/engine/poller/poll.ts";
import { type Around, createFaults } from "../../support/faults.ts";
import { requestOf } from "../../support/requests.ts";
import { createWorld, SENDER, type World } from "../../support/world.ts";
import { createExclusiveProvider } from "./exclusive-provider.ts";

const TASK_MS = 5_000;

/** Commands on a container and a policy: two lanes. */
const containerCommand = (id: string) =>
  requestOf(id, {
    operation: "update-container",
    params: { project_id: 1, region_id: 1, container_name: "web" },
    body: { description: id },
  });
const policyCommand = (id: string) =>
  requestOf(id, {
    operation: "update-policy",
    params: { project_id: 1, region_id: 1, policy_id: 1 },
    body: { name: id },
  });

const COMMANDS = [
  containerCommand("one"),
  containerCommand("two"),
  containerCommand("three"),
  policyCommand("four"),
  policyCommand("five"),
];

const ENDS = ["five", "four", "one", "three", "two"].flatMap((id) => [
  `${id} CommandAccepted`,
  `${id} CommandSucceeded`,
]);

/** Calls that happen at the same time; the scheduler interleaves their steps. */
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ request: fc.nat({ max: COMMANDS.length - 1 }) }) },
  { weight: 3, arbitrary: fc.record({ deliver: fc.constant(true) }) },
  { weight: 3, arbitrary: fc.record({ poll: fc.constant(true) }) },
  { weight: 1, arbitrary: fc.record({ pass: fc.constantFrom(1_000, 31_000) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Records the order in which commands enter each lane. */
const watchEntering = (world: World): ReadonlyMap<string, readonly string[]> => {
  const entered = new Map<string, string[]>();
  const write = world.ledger.write.bind(world.ledger);
  world.ledger.write = async (item) => {
    const answer = await write(item);
    if (answer === "written" && item.key.startsWith(`${lanes.kind}#`)) {
      const { holder, waiting } = item.value as { holder?: string; waiting: string[] };
      const known = entered.get(item.key) ?? [];
      const keys = [...(holder === undefined ? [] : [holder]), ...waiting];
      entered.set(item.key, [...known, ...keys.filter((key) => !known.includes(key))]);
    }
    return answer;
  };
  return entered;
};

const perform = async (world: World, act: Action): Promise<void> => {
  if ("request" in act) return world.handle(COMMANDS[act.request]);
  if ("deliver" in act) return world.deliver();
  if ("pass" in act) return world.clock.advance(act.pass);
  const budget = { endsAt: world.clock.now() + 1, signal: new AbortController().signal };
  return pollDue(world.newInvocation().deps, budget);
};

/** Runs all calls wave by wave, then all of them again without interleaving. */
const run = async (
  scheduler: fc.Scheduler,
  waves: readonly (readonly Action[])[],
  killAt: number | undefined,
) => {
  let isMixed = true;
  const mix = async (): Promise<void> => {
    if (isMixed) await scheduler.schedule(Promise.resolve());
  };
  const faults = createFaults();
  if (killAt !== undefined) faults.strike(killAt, "killed");
  const around: Around = async (call, effect) => {
    await mix();
    return faults.around(call, effect);
  };
  const providers: ReturnType<typeof createExclusiveProvider>[] = [];
  const world = await createWorld({
    around,
    provider: (clock) => {
      const provider = createExclusiveProvider({ clock, taskMs: TASK_MS, pause: mix });
      providers.push(provider);
      return provider;
    },
  });
  const entered = watchEntering(world);

  for (const wave of waves) {
    // A failed call does not matter here: like all messages, its message is delivered again below.
    await scheduler.waitFor(Promise.allSettled(wave.map((act) => perform(world, act))));
  }
  isMixed = false;
  // An invocation that outlives its wave may still wait for the scheduler.
  await scheduler.waitIdle();
  for (const request of COMMANDS) await world.send(request);
  await world.untilQuiet();
  return { world, entered, provider: providers[0]! };
};

const WAVES = fc.array(fc.array(action, { minLength: 1, maxLength: 5 }), { maxLength: 6 });

/** Whether the first sends of each resource's commands are in the order of its lane. */
const expectOrder = ({ entered, provider }: Awaited<ReturnType<typeof run>>): void => {
  for (const sent of provider.sent.values()) {
    const firsts = [...new Set(sent)].map((id) => `${SENDER}/${id}`);
    expect([...entered.values()]).toEqual(expect.arrayContaining([firsts]));
  }
};

const expectEnds = ({ world }: Awaited<ReturnType<typeof run>>): void => {
  const told = world.bus
    .published()
    .filter(({ detailType }) => detailType !== "TaskFinished")
    .map(({ metadata, detailType }) => `${metadata.commandId} ${detailType}`);
  expect([...new Set(told)].sort()).toEqual(ENDS);
};

test("in any interleaving, a lane has one command in flight, in order, and each is sent once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), WAVES, async (scheduler, waves) => {
      const course = await run(scheduler, waves, undefined);

      expect(course.provider.overlaps).toEqual([]);
      const sent = [...course.provider.sent.values()].flat();
      expect(sent).toHaveLength(COMMANDS.length);
      expectOrder(course);
      expectEnds(course);
    }),
    { numRuns: 40 },
  );
});

test("in any interleaving with crashes, no two commands of a lane are in flight", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), WAVES, fc.nat({ max: 150 }), async (scheduler, waves, nth) => {
      const course = await run(scheduler, waves, nth + 1);

      const { overlaps } = course.provider;
      // A command whose reply was lost is sent again while its lost task may still run.
      const others = overlaps.filter((overlap) => !/^(\w+) during \1$/.test(overlap));
      expect(others).toEqual([]);
      expectOrder(course);
      expectEnds(course);
    }),
    { numRuns: 40 },
  );
});
