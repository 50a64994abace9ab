import { describe, expect, test } from "vitest";
import { cancelCommand } from "../../../../lib/admin/operator-actions.ts";
import { recordAndPublishEnd } from "../../../../lib/engine/poller/task-end.ts";
import { tasks } from "../../../../lib/engine/task.ts";
import { createGate } from "../../../support/gate.ts";
import { json, scriptProvider } from "../../../support/provider.ts";
import { requestOf, updateContainer } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

const READ = "GET /v1/tasks/t1";
const RUNNING = () => json(200, { id: "t1", state: "RUNNING" });
const MINUTE_MS = 60_000;
const ALL = ["CommandAccepted", "TaskFinished", "CommandSucceeded"];

/** What happens to the next call with this name prefix. */
type Strike = readonly [kind: "fails" | "hangs" | "dies", name: string];

/** A world in which `c1` follows `t1`, and `c2` waits in its lane. Strikes happen in any order, each once. */
const following = async () => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    [READ]: RUNNING,
    "GET /v1/tasks/t2": () => json(200, { id: "t2", state: "FINISHED" }),
  });
  const strikes: Strike[] = [];
  const dead = new Set<number>();
  const die = (): never => {
    throw Object.assign(new Error("killed"), { name: "Killed" });
  };
  const world = await createWorld({
    provider: () => provider,
    around: async ({ name, invocation }, effect) => {
      if (dead.has(invocation)) die();
      const index = strikes.findIndex(([, prefix]) => name.startsWith(prefix));
      const [strike] = index < 0 ? [] : strikes.splice(index, 1);
      if (strike?.[0] === "dies") {
        dead.add(invocation);
        die();
      }
      if (strike?.[0] === "hangs") await new Promise(() => undefined);
      if (strike?.[0] === "fails") throw new Error("throttled");
      return effect();
    },
  });
  const deadline = new Date(world.clock.now() + 30 * MINUTE_MS).toISOString();
  await world.handle(updateContainer("c1", {}, { deadline }));
  provider.answer("PATCH ", () => json(200, { tasks: ["t2"] }));
  await world.handle(updateContainer("c2"));
  await world.pass(MINUTE_MS);
  /** Strikes while the end of the task is handled; afterwards the task cannot be read. */
  const strike = async (...all: readonly Strike[]): Promise<void> => {
    strikes.push(...all);
    while (strikes.length > 0) await world.pass(1_000);
    provider.answer(READ, () => json(503, {}));
  };
  provider.answer(READ, () => json(200, { id: "t1", state: "FINISHED" }));
  return { world, strike };
};

describe("a recorded end is published, and the lane handed over, although the task cannot be read any more", () => {
  test("and two calls of the ledger failed", async () => {
    const { world, strike } = await following();
    await strike(["fails", "ledger.read lane#"], ["fails", "ledger.write task#local/t1"]);

    await world.pass(5 * MINUTE_MS);

    expect(world.publishedTypes("c1")).toEqual(ALL);
    expect(world.publishedTypes("c2")).toEqual(ALL);
  });

  test("and the bus did not answer within the run", async () => {
    const { world, strike } = await following();
    await strike(["hangs", "bus.publish"]);

    await world.pass(5 * MINUTE_MS);

    expect(world.publishedTypes("c1")).toEqual(ALL);
  });

  test("and a process died, and the next one could not read the command at first", async () => {
    const { world, strike } = await following();
    await strike(["dies", "ledger.read lane#"]);
    await strike(["fails", "ledger.read command#own/c1"]);

    await world.pass(5 * MINUTE_MS);

    expect(world.publishedTypes("c1")).toEqual(ALL);
    expect(world.publishedTypes("c2")).toEqual(ALL);
  });
});

test.each([
  ["success", { status: "finished" as const }, "ledger.write command#own/c1"],
  ["failure", { status: "failed" as const, message: "no" }, "ledger.write task#"],
])(
  "a follow-task that is cancelled while the %s of its task is recorded publishes that no more",
  async (_, end, write) => {
    const gate = createGate();
    const provider = scriptProvider({ [READ]: RUNNING });
    const world = await createWorld({ provider: () => provider, around: gate.around });
    await world.handle(requestOf("c1", { operation: "follow-task", params: { task_id: "t1" } }));
    const [entry] = await world.dueEntries();
    const task = (await tasks.read(world.ledger, entry!.key.slice("task#".length)))!;
    const slow = gate.hold(write);
    const reported = recordAndPublishEnd(world.newInvocation().deps, task, end);
    await slow.reached;
    await cancelCommand(world.newInvocation().deps, "own/c1");

    slow.open();
    await reported;
    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandCancelled"]);
  },
);
