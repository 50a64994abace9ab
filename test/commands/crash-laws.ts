import { describe, expect, test } from "vitest";
import { lanes } from "../../lib/ledger/lane.ts";
import type { FaultKind } from "../support/faults.ts";
import type { World } from "../support/world.ts";
import { runScenario, type Scenario } from "./crash-scenarios.ts";

const ENDS = new Set(["CommandSucceeded", "CommandFailed", "CommandCancelled", "CommandRejected"]);

const isRead = (call: string | undefined): boolean =>
  call !== undefined && /^ledger\.(read|listDue)/.test(call);

/** Whether the fault makes sense for a call; reading changes nothing, so one read stands for many. */
const applies = (kind: FaultKind, call: string, previous: string | undefined): boolean => {
  if (kind === "killed") return !isRead(call) || !isRead(previous);
  // A read that fails ends the invocation where one that is killed does.
  if (isRead(call) || call === "queue.acknowledge") return false;
  return !kind.endsWith("half-way") || call === "bus.publish";
};

const expectSoundEnd = async (world: World, scenario: Scenario): Promise<void> => {
  const events = world.bus.published();
  for (const [id, end] of Object.entries(scenario.ends)) {
    const ends = events.filter((e) => e.metadata.commandId === id && ENDS.has(e.detailType));
    expect(new Set(ends.map(({ detailType }) => detailType))).toEqual(new Set([end]));
    expect(new Set(ends.map((event) => event.id)).size).toBe(1);
    const told = [...new Set(world.told(id))];
    expect(told.at(-1)).toBe(end);
    if (end !== "CommandRejected") {
      expect(told[0]).toBe("CommandAccepted");
      const command = await world.command(id);
      expect(command).not.toHaveProperty("request");
      expect(command).toMatchObject({ outbox: [], state: { settled: true } });
      const lane = await lanes.read(world.ledger, command!.lane);
      expect(lane?.value).not.toHaveProperty("holder");
      expect(lane?.value.waiting).toEqual([]);
    }
  }
  expect(await world.dueEntries()).toEqual([]);
  expect(world.queue.deadLetters()).toEqual([]);
};

/** By the time of the end: a publication that failed is made up for later, after the next one's. */
const expectOrder = (world: World, scenario: Scenario): void => {
  const ends = world.bus.published().filter(({ detailType }) => detailType === "CommandSucceeded");
  if (ends.length === 0) return;
  const inTime = ends.sort((a, b) => Date.parse(a.metadata.time) - Date.parse(b.metadata.time));
  const order = [...new Set(inTime.map(({ metadata }) => metadata.commandId))];
  expect(order).toEqual(Object.keys(scenario.ends));
};

const COUNTED_AS: Readonly<Record<string, string>> = {
  CommandCancelled: "CommandEnded cancelled",
  CommandFailed: "CommandEnded failed",
  CommandSucceeded: "CommandEnded succeeded",
};

/** Nothing ends twice in the metrics; whoever dies right behind the write may leave one out. */
const expectCounts = (world: World, scenario: Scenario, mayLack: boolean): void => {
  const wanted = Object.values(scenario.ends).flatMap((end) => COUNTED_AS[end] ?? []);
  const counted = world.counted.filter((name) => wanted.includes(name));
  expect(world.measured.filter(({ name }) => name === "CommandDuration")).toHaveLength(
    counted.length,
  );
  if (mayLack) expect(wanted.sort()).toEqual(expect.arrayContaining(counted));
  else expect(counted.sort()).toEqual(wanted.sort());
  expect(counted.length).toBeLessThanOrEqual(wanted.length);
};

/** The answer to the write that ended a command is lost with its invocation, or by itself. */
const mayLoseCounts = (kind: FaultKind): boolean =>
  kind.startsWith("killed") || kind === "fails after";

const KINDS = [
  "killed",
  "killed half-way",
  "fails before",
  "fails after",
  "fails half-way",
] as const;

/**
 * Runs each scenario once for every call of a port and every way in which it can go wrong, and lets
 * messages come again and time pass: the end must be the one it has when nothing goes wrong.
 */
export const describeCrashes = (scenarios: readonly Scenario[]): void => {
  describe.each(scenarios)("$name", (scenario) => {
    test("ends well when nothing goes wrong", async () => {
      const { world, check } = await runScenario(scenario);

      await expectSoundEnd(world, scenario);
      expectCounts(world, scenario, false);
      expect(world.errors).toEqual([]);
      await check();
    });

    test.each(KINDS)("ends the same when any one call of a port is %s", async (kind) => {
      const { faults: clean } = await runScenario(scenario);
      const steps = clean.calls.flatMap((call, index) =>
        applies(kind, call, clean.calls[index - 1]) ? [{ nth: index + 1, call }] : [],
      );

      for (const { nth, call } of steps) {
        const { world, check } = await runScenario(scenario, { nth, kind });
        try {
          await expectSoundEnd(world, scenario);
          expectOrder(world, scenario);
          expectCounts(world, scenario, mayLoseCounts(kind));
          await check();
        } catch (error) {
          throw new Error(`${kind} at call ${nth}, ${call}`, { cause: error });
        }
      }
    });
  });
};
