import { describe, expect, test } from "vitest";
import { readOpenWork } from "../../../lib/admin/open.ts";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { commandOf } from "../../support/commands.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { json, scriptProvider, startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World, type WorldOptions } from "../../support/world.ts";

const START = Date.UTC(2026, 0, 1);
const SECOND_MS = 1_000;
const LANE = "local/container/1234567/76/my-container";
const iso = (at: number) => new Date(at).toISOString();

const running = (...tasks: readonly string[]) =>
  scriptProvider({
    "PATCH ": () => json(200, { tasks }),
    "GET /v1/tasks/": ({ target }) => json(200, { id: target.split("/").at(-1), state: "RUNNING" }),
  });

const worldOf = (provider: WorldOptions["provider"] = startProvider) => createWorld({ provider });
const openIn = (world: World) => readOpenWork(world.ledger, world.clock.now());

/** A ledger that counts reads and queries. */
const counted = (ledger: Ledger) => {
  const count = { reads: 0, queries: 0 };
  const counting: Ledger = {
    ...ledger,
    read: (key) => {
      count.reads += 1;
      return ledger.read(key);
    },
    listDue: (...query) => {
      count.queries += 1;
      return ledger.listDue(...query);
    },
  };
  return { ledger: counting, count };
};

const put = async (ledger: Ledger, fields: Partial<Command>): Promise<void> => {
  const command = commandOf(fields);
  await commands.write(ledger, commandKey(command), undefined, command);
};

describe("what is in progress", () => {
  test("is nothing in an empty ledger", async () => {
    const open = await readOpenWork(createMemoryLedger(), START);

    const nothing = { lanes: [], tasks: [], commands: 0, more: false };
    expect(open).toEqual({ at: iso(START), ...nothing });
  });

  test("is nothing after the last end", async () => {
    const world = await worldOf();
    await world.send(requests.updateContainer("c1"));
    await world.untilQuiet();

    expect(await openIn(world)).toMatchObject({ lanes: [], tasks: [], commands: 0, more: false });
  });

  test("shows who holds a lane since when, and who waits in which order", async () => {
    const world = await worldOf();
    await world.handle(requests.updateContainer("c1"));
    for (const id of ["c3", "c2"]) {
      await world.clock.advance(SECOND_MS);
      await world.handle(requests.updateContainer(id));
    }

    const { lanes, commands: count } = await openIn(world);

    const shared = { sender: "own", operation: "update-container" };
    expect(count).toBe(3);
    expect(lanes).toEqual([
      {
        lane: LANE,
        holder: {
          ...{ ...shared, commandId: "c1", status: "following" },
          ...{ acceptedAt: iso(START), since: iso(START) },
        },
        waiting: [
          { ...shared, commandId: "c3", status: "waiting", acceptedAt: iso(START + SECOND_MS) },
          { ...shared, commandId: "c2", status: "waiting", acceptedAt: iso(START + 2 * SECOND_MS) },
        ],
      },
    ]);
  });

  test("shows since when a lane is held although a waiting command has left it", async () => {
    const world = await worldOf(() => running("t1"));
    await world.handle(requests.updateContainer("c1"));
    const deadline = iso(START + 10 * SECOND_MS);
    await world.handle(requests.updateContainer("c2", {}, { deadline }));
    await world.pass(30 * SECOND_MS);

    expect((await openIn(world)).lanes).toMatchObject([
      { holder: { commandId: "c1", since: iso(START) }, waiting: [] },
    ]);
  });

  test("leaves a command that waits for others out of every lane", async () => {
    const world = await worldOf();
    await world.handle(requests.updatePolicy("c1"));
    await world.handle(requests.updateContainer("c2", {}, { after: ["never-sent"] }));

    const { ledger, count } = counted(world.ledger);

    expect(await readOpenWork(ledger, START)).toMatchObject({ lanes: [], commands: 1 });
    expect(count.reads).toBe(1);
  });

  test("shows each followed task with its command and last recorded state", async () => {
    const world = await worldOf(() => {
      const provider = running("t1", "t2", "t3");
      provider.answer("GET /v1/tasks/t2", () => json(404, {}));
      provider.answer("GET /v1/tasks/t3", () => json(200, { id: "t3", state: "FINISHED" }));
      return provider;
    });
    await world.send(requests.updateContainer("c1"));
    await world.pass(10 * SECOND_MS);

    const { tasks } = await openIn(world);

    const own = { account: "local", sender: "own", commandId: "c1", operation: "update-container" };
    const since = iso(START);
    expect(tasks).toMatchObject([
      { ...own, taskId: "t1", recorded: { status: "open", since } },
      {
        ...own,
        taskId: "t2",
        recorded: { status: "open", since, missingSince: iso(START + 2 * SECOND_MS) },
      },
    ]);
    expect(tasks[0]?.recorded).not.toHaveProperty("missingSince");
    expect(tasks[0]?.deadline).toBe(iso(START + 2 * 60 * 60 * SECOND_MS));
  });

  test.each([
    ["after its first check", 0, 4_300],
    ["within 4.3 s", 9_000, 13_300],
    ["after 7.5 % of its age", 100_000, 107_500],
    ["within a minute", 3_600_000, 3_660_000],
  ])("shows the next check of an open task: %s", async (_when, age, next) => {
    const world = await worldOf(() => running("t1"));
    await world.handle(requests.updateContainer("c1"));

    const { tasks } = await readOpenWork(world.ledger, START + age);

    expect(tasks[0]?.nextCheckBy).toBe(iso(START + next));
  });

  test("shows a follower's own record of a task", async () => {
    const world = await worldOf(() => running("t1"));
    await world.handle(requests.updateContainer("c1"));
    await world.clock.advance(SECOND_MS);
    const follow = { operation: "follow-task", params: { task_id: "t1" } };
    await world.handle(requests.requestOf("c2", follow));

    const { tasks } = await openIn(world);

    expect(tasks).toMatchObject([
      { commandId: "c1", recorded: { since: iso(START) } },
      { commandId: "c2", recorded: { since: iso(START + SECOND_MS) } },
    ]);
  });

  test("reads each open command once, then each lane and task by its key", async () => {
    const world = await worldOf(() => running("t1", "t2"));
    for (const id of ["c1", "c2", "c3"]) await world.handle(requests.updateContainer(id));
    await world.handle(requests.updatePolicy("ended"));
    const { ledger, count } = counted(world.ledger);

    await readOpenWork(ledger, world.clock.now());

    // Three commands, one lane, and two tasks, which also name their command.
    expect(count).toEqual({ queries: 1, reads: 8 });
  });

  test("does not need the due times of lanes", async () => {
    const world = await worldOf(() => running("t1"));
    for (const id of ["c1", "c2"]) await world.handle(requests.updateContainer(id));
    const withoutLanes: Ledger = {
      ...world.ledger,
      listDue: async (...query) =>
        (await world.ledger.listDue(...query)).filter(({ key }) => !key.startsWith("lane#")),
    };

    expect(await readOpenWork(withoutLanes, START)).toEqual(await openIn(world));
  });

  test("reads 1,000 commands at most, and says that there are more", async () => {
    const ledger = createMemoryLedger();
    for (let id = 0; id < 1_001; id++) {
      await put(ledger, { id: String(id), deadline: 1_000_000 + id, state: { status: "waiting" } });
    }
    const { ledger: counting, count } = counted(ledger);

    const open = await readOpenWork(counting, START);

    expect(open).toMatchObject({ commands: 1_000, more: true });
    // All of them in one lane, which is free.
    expect(count.reads).toBe(1_001);
  });

  test("leaves out a command that only a newer version can read", async () => {
    const world = await worldOf();
    await world.handle(requests.updateContainer("c1"));
    const key = "command#own/newer";
    await world.ledger.write({ key, version: 1, dueAt: START, value: { state: "of the future" } });

    expect(await openIn(world)).toMatchObject({ commands: 1, lanes: [{ lane: LANE }] });
  });
});
