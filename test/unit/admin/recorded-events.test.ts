import { describe, expect, test } from "vitest";
import { recordedSource, type StreamItem } from "../../../lib/admin/event-stream.ts";
import { cancelCommand, resolveCommand } from "../../../lib/admin/operator-actions.ts";
import {
  type RecordedBatch,
  type RecordedEvent,
  recordedEvents,
} from "../../../lib/admin/recorded-events.ts";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import { type Task, tasks } from "../../../lib/engine/task.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { commandOf } from "../../support/commands.ts";
import { connectionLost, json, scriptProvider, startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { createWorld, type World, type WorldOptions } from "../../support/world.ts";

const POLL_MS = 5_000;
const HOUR_MS = 60 * 60_000;

/** A ledger that counts calls. */
const counted = (ledger: Ledger) => {
  const count = { reads: 0, due: 0, list: 0, entries: 0 };
  const counting: Ledger = {
    ...ledger,
    read: (key) => {
      count.reads += 1;
      return ledger.read(key);
    },
    listDue: (...query) => {
      count.due += 1;
      return ledger.listDue(...query);
    },
    list: async (...query) => {
      count.list += 1;
      const entries = await ledger.list(...query);
      count.entries += entries.length;
      return entries;
    },
  };
  return { ledger: counting, count };
};

/** Follows a world; each call of `next` is one poll at its time. */
const follow = (world: World, ledger = world.ledger, since?: number) => {
  const events: RecordedEvent[] = [];
  const stop = new AbortController();
  // Time passes in the world only.
  const clock = { now: world.clock.now, sleep: async () => {} };
  const polls = recordedEvents(
    { ledger, clock },
    { signal: stop.signal, ...(since !== undefined && { since }) },
  );
  return {
    events,
    stop,
    polls,
    async next(): Promise<RecordedBatch | undefined> {
      const { value, done } = await polls.next();
      if (done) return undefined;
      events.push(...value.events);
      return value;
    },
  };
};

const worldOf = (provider: WorldOptions["provider"] = startProvider, canList = true) =>
  createWorld({ provider, accounts: { local: { canList } } });

const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);
const publishedIds = (world: World) => [...new Set(idsOf(world.bus.published()))];
const typesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

/** A process that died after it had written the item of `t1`, before its command; the next reply named `t2`. */
const withUnfollowedTask = async () => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t2"] }),
    "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "RUNNING" }),
    "GET /v1/tasks/t2": () => json(200, { id: "t2", state: "RUNNING" }),
  });
  const world = await worldOf(() => provider, false);
  const now = world.clock.now();
  const task: Task = {
    ...{ account: "local", id: "t1", command: "own/c1", operation: "update-container" },
    ...{ recordedAt: now, lookAt: now + 2_000, deadline: now + HOUR_MS },
    state: { status: "open" },
  };
  await tasks.write(world.ledger, "local/t1", undefined, task);
  await world.clock.advance(1_000);
  await world.handle(requests.updateContainer("c1"));
  return { world, provider };
};

describe("the recorded events of a stage", () => {
  test("include the end of a command that has an older task, which it does not follow", async () => {
    const { world, provider } = await withUnfollowedTask();
    const { events, next } = follow(world);
    await next();
    provider.answer("GET /v1/tasks/t2", () => json(200, { id: "t2", state: "FINISHED" }));
    await world.pass(60_000);
    await next();

    expect(world.publishedTypes("c1")).toContain("CommandSucceeded");
    expect(typesOf(events)).toEqual(
      expect.arrayContaining(["CommandAccepted", "TaskFinished", "CommandSucceeded"]),
    );
  });

  test("are all that commands publish, each once, and none from before the start", async () => {
    const provider = scriptProvider({
      "PATCH ": () => json(200, { tasks: ["t1", "t2", "t3"] }),
      "GET /v1/tasks/": ({ target }) =>
        json(200, { id: target.split("/").at(-1), state: "FINISHED" }),
      "GET /v1/tasks/t2": () => json(200, { id: "t2", state: "ERROR", error: "no capacity" }),
      "POST /cloud/v1/routers/": () => connectionLost(),
    });
    const world = await worldOf(() => provider, false);
    await world.send(requests.updatePolicy("before"));
    await world.send(requests.updateContainer("under-way"));
    await world.pass(1_000);
    const before = publishedIds(world);
    await world.clock.advance(1);
    const { events, next } = follow(world);
    await next();

    await world.send(requests.updateContainer("c1"));
    await world.send(requests.updateContainer("c2", {}, { after: ["c1"] }));
    const deadline = new Date(world.clock.now() + HOUR_MS / 4).toISOString();
    await world.send(requests.createRouter("lost", {}, { deadline }));
    await world.send(requests.updatePolicy("good"));
    await world.send(requests.updatePolicy("bad", { status: "asleep" }));
    await world.send(requests.updatePolicy("before", { status: "active" }));
    for (let poll = 0; poll < HOUR_MS / 2 / POLL_MS; poll++) {
      await world.pass(POLL_MS);
      await next();
    }
    await resolveCommand(world.newInvocation().deps, "own/lost", { applied: false });
    await next();
    await world.untilQuiet();
    await next();

    const since = publishedIds(world).filter((id) => !before.includes(id));
    expect(idsOf(events).toSorted()).toEqual(since.toSorted());
    expect(new Set(typesOf(events))).toEqual(
      new Set([
        ...["CommandAccepted", "CommandRejected", "CommandSucceeded", "CommandFailed"],
        ...["CommandCancelled", "CommandResolved", "TaskFinished", "TaskFailed"],
      ]),
    );
  }, 60_000);

  test("of one poll are in the order of time, with their command", async () => {
    const world = await worldOf();
    const { next } = follow(world);
    await next();
    await world.send(requests.updatePolicy("c1"));
    await world.pass(1_000);
    await world.send(requests.updatePolicy("c2", { status: "active" }));
    await world.pass(1_000);

    const batch = await next();

    expect(batch?.events.map(({ commandId, type }) => [commandId, type])).toEqual([
      ["c1", "CommandAccepted"],
      ["c1", "CommandSucceeded"],
      ["c2", "CommandAccepted"],
      ["c2", "CommandSucceeded"],
    ]);
    expect(batch?.events[0]).toMatchObject({
      ...{ sender: "own", account: "local", operation: "update-policy" },
      lane: "local/policy/1234567/76/1",
    });
  });

  test("appear as soon as one of several tasks has ended", async () => {
    const provider = scriptProvider({
      "PATCH ": () => json(200, { tasks: ["t1", "t2"] }),
      "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "RUNNING" }),
      "GET /v1/tasks/t2": () => json(200, { id: "t2", state: "RUNNING" }),
    });
    const world = await worldOf(() => provider);
    const { events, next } = follow(world);
    await next();
    await world.send(requests.updateContainer("c1"));
    await world.pass(POLL_MS);
    await next();
    provider.answer("GET /v1/tasks/t1", () => json(200, { id: "t1", state: "FINISHED" }));
    await world.pass(60_000);
    await next();

    expect(typesOf(events)).toEqual(["CommandAccepted", "TaskFinished"]);
  });

  test("begin at an instant in the past, if asked", async () => {
    const world = await worldOf();
    const since = world.clock.now();
    await world.send(requests.updatePolicy("c1"));
    await world.pass(10_000);

    const { events, next } = follow(world, world.ledger, since);
    await next();

    expect(typesOf(events)).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test.each([
    ["a minute", 0],
    // Then the day of the command is neither the first one that is read nor that of the newest entries.
    ["a day, until midnight", 24 * HOUR_MS - 70_000],
  ])("include what ended while a follower did not poll for %s", async (_gap, restMs) => {
    const world = await worldOf();
    const { events, next } = follow(world);
    await next();
    await world.send(requests.updatePolicy("c1"));
    await world.pass(60_000);
    await world.clock.advance(restMs);

    await next();

    expect(typesOf(events)).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("include what ended before a follower came back", async () => {
    const world = await worldOf();
    const since = world.clock.now();
    await world.clock.advance(1_000);
    await world.send(requests.updatePolicy("c1"));
    await world.pass(60_000);

    const { events, next } = follow(world, world.ledger, since);
    await next();

    expect(typesOf(events)).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("are partial after more than a day without a poll", async () => {
    const world = await worldOf();
    const clock = { now: world.clock.now, sleep: async () => {} };
    const { signal } = new AbortController();
    const polls = recordedEvents({ ledger: world.ledger, clock }, { signal });
    const early = (await polls.next()).value;
    await world.clock.advance(25 * 60 * 60_000);

    const late = (await polls.next()).value;

    expect([early?.isPartial, late?.isPartial]).toEqual([false, true]);
  });

  test("include a command that the list shows late", async () => {
    const world = await worldOf();
    let isBehind = true;
    const late: Ledger = {
      ...world.ledger,
      list: async (...query) => (isBehind ? [] : world.ledger.list(...query)),
      listDue: async (...query) => (isBehind ? [] : world.ledger.listDue(...query)),
    };
    const { events, next } = follow(world, late);
    await next();
    await world.send(requests.updatePolicy("c1"));
    for (let poll = 0; poll < 5; poll++) {
      await world.pass(POLL_MS);
      await next();
    }
    isBehind = false;
    await next();

    expect(typesOf(events)).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("of a command accepted before midnight are seen after it", async () => {
    const world = await worldOf();
    await world.clock.advance(24 * HOUR_MS - 2_000);
    const { events, next } = follow(world);
    await next();
    await world.send(requests.updatePolicy("c1"));
    await world.pass(POLL_MS);
    await next();

    expect(typesOf(events)).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("cost five queries a poll, and a read only of what has changed", async () => {
    const world = await worldOf(() =>
      scriptProvider({
        "PATCH ": () => json(200, { tasks: ["t1"] }),
        "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "RUNNING" }),
      }),
    );
    for (const id of ["c1", "c2", "c3"]) await world.handle(requests.updateContainer(id));
    await world.clock.advance(60_000);
    const { ledger, count } = counted(world.ledger);
    const { next } = follow(world, ledger);

    const readsOf = async () => {
      const before = { ...count };
      await next();
      return {
        reads: count.reads - before.reads,
        queries: count.due + count.list - before.due - before.list,
      };
    };

    // The open commands, and twice the task of the one in flight, whose entry is the command's.
    expect(await readsOf()).toEqual({ reads: 5, queries: 5 });
    expect(await readsOf()).toEqual({ reads: 0, queries: 5 });
    await cancelCommand(world.newInvocation().deps, "own/c3");
    expect(await readsOf()).toEqual({ reads: 1, queries: 5 });
    expect(await readsOf()).toEqual({ reads: 0, queries: 5 });
  });

  test("cost as many list entries after a busy day as after an idle one", async () => {
    const world = await worldOf();
    const put = async (fields: Partial<Command>): Promise<void> => {
      const state: Command["state"] = {
        ...{ status: "succeeded", endedAt: 1, settled: true, tasks: [] },
      };
      const command = commandOf({ acceptedAt: world.clock.now(), state, ...fields });
      await commands.write(world.ledger, commandKey(command), undefined, command);
    };
    for (let id = 0; id < 400; id++) await put({ id: `old-${id}` });
    await world.clock.advance(HOUR_MS);
    const { ledger, count } = counted(world.ledger);
    const { next } = follow(world, ledger);
    await next();

    expect(count).toMatchObject({ entries: 40, reads: 0 });

    for (let id = 0; id < 400; id++) await put({ id: `new-${id}` });
    await next();

    expect(count.reads).toBe(400);
  });

  test("may be partial when more commands are open than a poll reads", async () => {
    const world = await worldOf();
    for (let id = 0; id <= 1_000; id++) {
      const command = commandOf({ id: `c${id}`, state: { status: "waiting" } });
      await commands.write(world.ledger, commandKey(command), undefined, command);
    }

    expect(await follow(world).next()).toMatchObject({ events: [], isPartial: true });
  });

  test("end when the signal aborts, also during the pause between two polls", async () => {
    const world = await worldOf();
    const stop = new AbortController();
    const clock = createVirtualClock();
    const polls = recordedEvents({ ledger: world.ledger, clock }, { signal: stop.signal });
    await polls.next();

    const ended = polls.next();
    stop.abort();

    expect(await ended).toEqual({ value: undefined, done: true });
  });
});

describe("the stream of a stage's recorded events", () => {
  /** Reads the stream from a cursor until an item fits. */
  const read = async (
    world: World,
    after: string | undefined,
    until: (item: StreamItem) => boolean,
  ) => {
    const stop = new AbortController();
    const clock = { now: world.clock.now, sleep: async () => {} };
    const source = recordedSource((start) =>
      recordedEvents({ ledger: world.ledger, clock }, start),
    );
    const filter = { types: [] };
    const items: StreamItem[] = [];
    for await (const item of source.follow({ filter, after, recent: 0, signal: stop.signal })) {
      items.push(item);
      if (until(item)) stop.abort();
      if (stop.signal.aborted) break;
    }
    return items;
  };
  const isIdle = ({ kind }: StreamItem) => kind === "idle";
  const cursorOf = (items: readonly StreamItem[]) => {
    const last = items.at(-1);
    return last && "cursor" in last ? last.cursor : undefined;
  };
  const typesIn = (items: readonly StreamItem[]) =>
    items.flatMap((item) => (item.kind === "event" ? item.event.type : []));

  test("continues where it was without events, through an outage", async () => {
    const world = await worldOf();
    const before = await read(world, undefined, isIdle);
    await world.clock.advance(60_000);
    await world.send(requests.updatePolicy("c1"));
    await world.pass(60_000);

    const back = await read(world, cursorOf(before), isIdle);

    expect(typesIn(before)).toEqual([]);
    expect(typesIn(back)).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("gives the rest of a poll to a reader that left between two of its events", async () => {
    const world = await worldOf();
    const before = await read(world, undefined, isIdle);
    await world.clock.advance(60_000);
    await world.send(requests.updatePolicy("c1"));
    await world.pass(60_000);

    const cut = await read(world, cursorOf(before), ({ kind }) => kind === "event");
    await world.clock.advance(60_000);
    const back = await read(world, cursorOf(cut), isIdle);

    expect(typesIn(cut)).toEqual(["CommandAccepted"]);
    expect(typesIn(back)).toContain("CommandSucceeded");
  });
});
