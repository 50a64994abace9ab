import { describe, expect, test } from "vitest";
import { tasks } from "../../../../lib/engine/task.ts";
import { createFaults } from "../../../support/faults.ts";
import { createGate } from "../../../support/gate.ts";
import { json, scriptProvider } from "../../../support/provider.ts";
import { updateContainer } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

/*
 * The item of a reply's only task is written before its command. A process may die or be suspended in between; the
 * command may then send again, or end.
 */

const MINUTE_MS = 60_000;
const COMMAND = "ledger.write command#own/c1";
const TASK = "ledger.write task#local/t1";
const ENDS = ["TaskFinished", "CommandSucceeded"];

/** A world with a provider that names these tasks, one in each reply. */
const open = async (replies: readonly string[]) => {
  const faults = createFaults();
  const gate = createGate();
  let sent = 0;
  const provider = scriptProvider({
    "PATCH ": () => {
      sent += 1;
      return json(200, { tasks: [replies[sent - 1]] });
    },
  });
  const answer = (id: string, state: "RUNNING" | "FINISHED"): void =>
    provider.answer(`GET /v1/tasks/${id}`, () => json(200, { id, state }));
  for (const id of replies) answer(id, "RUNNING");
  let fatal: string | undefined;
  const world = await createWorld({
    provider: () => provider,
    accounts: { local: { canList: false } },
    around: (call, effect) =>
      gate.around(call, () => {
        const item = call.name === TASK ? "task" : call.name === COMMAND && sent > 0 && "command";
        if (fatal !== undefined && item === fatal) {
          fatal = undefined;
          faults.strike(faults.calls.length + 1, item === "task" ? "fails before" : "killed");
        }
        return faults.around(call, effect);
      }),
  });
  return {
    ...{ world, provider, gate, faults },
    finish: (id: string) => answer(id, "FINISHED"),
    /** The write of the task fails, or the process dies before that of the command. */
    failAt: (item: "task" | "command"): void => {
      fatal = item;
    },
    sends: () => sent,
    state: async (id: string) => (await tasks.read(world.ledger, `local/${id}`))?.value.state,
  };
};

describe("a reply with one task", () => {
  test("is written once in the task and once in the command", async () => {
    const { world, faults } = await open(["t1"]);

    await world.handle(updateContainer("c1"));

    const writes = faults.calls.filter((name) => name.startsWith("ledger.write "));
    expect(writes.slice(-3)).toEqual([COMMAND, TASK, COMMAND]);
    expect(world.wakes).toEqual([world.clock.now() + 2_000]);
  });

  test("is recorded in the command first when the task's item cannot be written", async () => {
    const { world, faults, failAt, finish, sends } = await open(["t1"]);
    failAt("task");

    await world.handle(updateContainer("c1"));
    const writes = faults.calls.filter((name) => name.startsWith("ledger.write "));
    finish("t1");
    await world.untilQuiet();

    expect(writes.slice(-4)).toEqual([TASK, COMMAND, TASK, COMMAND]);
    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
    expect(sends()).toBe(1);
  });
});

test("a command does not wait for the item of its task for longer than a second", async () => {
  const { world, gate, finish, sends } = await open(["t1"]);
  const stalled = gate.hold(TASK);
  const handled = world.handle(updateContainer("c1"));
  await stalled.reached;
  await world.clock.advance(1_000);
  await handled;
  const { state } = (await world.command("c1")) ?? {};
  finish("t1");
  await world.untilQuiet();
  stalled.open();
  await world.untilQuiet();

  expect(state).toMatchObject({ status: "following", tasks: [{ id: "t1" }] });
  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
  expect(sends()).toBe(1);
  expect(await world.dueEntries()).toEqual([]);
});

test("a command that cannot be written with its task is written without a change of the due index", async () => {
  const { world, faults, gate, finish, sends } = await open(["t1"]);
  const sending = gate.hold("fetch PATCH");
  const handled = world.handle(updateContainer("c1"));
  await sending.reached;
  // The request, the write of the task, and that of the command.
  faults.strike(faults.calls.length + 3, "fails before");
  sending.open();
  await handled;
  const writes = faults.calls.filter((name) => name.startsWith("ledger.write "));
  finish("t1");
  await world.untilQuiet();

  expect(writes.slice(-5)).toEqual([TASK, COMMAND, COMMAND, TASK, COMMAND]);
  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
  expect(sends()).toBe(1);
});

describe("a process dies between the task and its command", () => {
  /** `c1` has sent, and its reply is recorded in the task alone. */
  const died = async (...replies: readonly string[]) => {
    const opened = await open(replies);
    opened.failAt("command");
    await opened.world.handle(updateContainer("c1")).catch(() => undefined);
    expect(await opened.state("t1")).toEqual({ status: "open" });
    expect((await opened.world.command("c1"))?.state.status).toBe("running");
    return opened;
  };

  test("the task stays open until its command has sent again, and ends without an event", async () => {
    const { world, finish, state, sends } = await died("t1", "t2");
    finish("t1");
    await world.pass(30_000);
    // The lease of the attempt lasts 45 s.
    expect([await state("t1"), sends()]).toEqual([{ status: "open" }, 1]);

    await world.pass(2 * MINUTE_MS);
    expect([await state("t1"), sends()]).toEqual([
      expect.objectContaining({ status: "finished", told: true }),
      2,
    ]);
    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted"]);

    finish("t2");
    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
    expect(world.bus.published().map(({ data }) => data.taskId)).toContain("t2");
    expect(await world.dueEntries()).toEqual([]);
  });

  test("the end of the task does not end a command that follows another one", async () => {
    const { world, finish, state } = await died("t1", "t2");
    await world.pass(2 * MINUTE_MS);
    const before = await world.ledger.read("command#own/c1");
    finish("t1");
    await world.pass(2 * MINUTE_MS);

    expect(await state("t1")).toMatchObject({ told: true });
    expect(await world.ledger.read("command#own/c1")).toEqual(before);
    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted"]);
  });

  test("the command follows the task when the next reply names it again", async () => {
    const { world, finish, sends } = await died("t1", "t1");
    await world.pass(2 * MINUTE_MS);
    expect(sends()).toBe(2);
    finish("t1");
    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
    expect(await world.dueEntries()).toEqual([]);
  });

  test("the task is given up when its command ends", async () => {
    const { world, provider, state } = await died("t1");
    provider.answer("PATCH ", () => json(422, { message: "no" }));
    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandFailed"]);
    expect(await state("t1")).toMatchObject({ status: "abandoned" });
    expect(await world.dueEntries()).toEqual([]);
  });
});

describe("a process is suspended between the task and its command", () => {
  const suspended = async (...replies: readonly string[]) => {
    const opened = await open(replies);
    const sending = opened.gate.hold("fetch PATCH");
    const handled = opened.world.handle(updateContainer("c1"));
    await sending.reached;
    const stopped = opened.gate.hold(COMMAND);
    sending.open();
    await stopped.reached;
    const resume = async (): Promise<void> => {
      stopped.open();
      await handled;
    };
    return { ...opened, resume };
  };

  test("a task that ends meanwhile waits for its command", async () => {
    const { world, finish, resume, sends } = await suspended("t1");
    finish("t1");
    await world.pass(30_000);
    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted"]);

    await resume();
    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
    expect(sends()).toBe(1);
  });

  test("it changes nothing when its command has ended with another task", async () => {
    const { world, finish, resume, state } = await suspended("t1", "t2");
    await world.pass(2 * MINUTE_MS);
    finish("t2");
    await world.pass(2 * MINUTE_MS);
    const before = world.publishedTypes();
    await resume();
    finish("t1");
    await world.untilQuiet();

    expect(before).toEqual(["CommandAccepted", ...ENDS]);
    expect(world.publishedTypes()).toEqual(before);
    expect(await state("t1")).toMatchObject({ endedAt: expect.any(Number) });
    expect(await world.dueEntries()).toEqual([]);
  });
});
