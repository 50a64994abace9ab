import { describe, expect, test } from "vitest";
import * as z from "zod";
import { resolveCommand } from "../../../lib/admin/operator-actions.ts";
import { type Command, commands } from "../../../lib/engine/command.ts";
import { unpublishedEvents } from "../../../lib/engine/command-events.ts";
import { isUnreadable, recordKind } from "../../../lib/ledger/record.ts";
import type { LedgerItem } from "../../../lib/platform/ports/ledger.ts";
import { commandOf, wholeItem, wholeValue } from "../../support/commands.ts";
import { createFaults } from "../../support/faults.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { connectionLost, json, scriptProvider, startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World, type WorldOptions } from "../../support/world.ts";

/** From now on the ledger keeps commands as an earlier version wrote them. */
const keepWhole = ({ ledger }: World): void => {
  const { write } = ledger;
  ledger.write = (item) => write(wholeItem(item));
};

const TASK = { id: "t1", end: { kind: "finished" as const } };
const { request: _, ...withoutRequest } = commandOf();
const ended = { ...withoutRequest, attempts: [{ startedAt: 2_000 }], attemptCount: 1 };

const COMMANDS: Readonly<Record<string, Command>> = {
  accepted: commandOf({ outbox: ["CommandAccepted"] }),
  "waiting in its lane": commandOf({ state: { status: "waiting" } }),
  "waiting for others": commandOf({
    after: ["c0"],
    correlationId: "another",
    state: { status: "waiting", lookAt: 5_000 },
  }),
  "sending, with more attempts than its item has room for": commandOf({
    attempts: [{ startedAt: 2_000 }],
    attemptCount: 41,
    lostReplies: 2,
    state: {
      status: "running",
      lease: { by: "me", until: 47_000 },
      notBefore: 2_000,
      lookAt: 47_000,
    },
  }),
  following: commandOf({
    request: { params: {}, query: { force: true } },
    state: { status: "following", tasks: [{ id: "t1" }], tasksRecorded: true },
  }),
  "ended by its task": {
    ...ended,
    outbox: ["CommandSucceeded"],
    state: { status: "succeeded", endedAt: 9_000, settled: false, outcome: "done", tasks: [TASK] },
  },
  failed: {
    ...ended,
    outbox: ["CommandAccepted", "CommandFailed"],
    state: {
      ...{ status: "failed", endedAt: 9_000, settled: false, reason: "refused", tasks: [] },
      problems: [{ path: "", rule: "no" }],
    },
  },
  "cancelled by a guard": {
    ...ended,
    outbox: ["CommandCancelled"],
    state: {
      ...{ status: "cancelled", endedAt: 9_000, settled: false, reason: "guard", tag: null },
      ...{ problems: [], tasks: [] },
    },
  },
  finalized: {
    ...ended,
    state: { status: "succeeded", endedAt: 9_000, settled: true, outcome: "no-op", tasks: [] },
  },
};

const stored = async (command: Command): Promise<LedgerItem> => {
  const ledger = createMemoryLedger();
  await commands.write(ledger, "own/c1", undefined, command);
  const item = await ledger.read("command#own/c1");
  if (!item) throw new Error("the command was not written");
  return item;
};

describe.each(Object.entries(COMMANDS))("a command that is %s", (_name, command) => {
  test("is read as it was written", async () => {
    expect(commands.fromItem(await stored(command))).toEqual(command);
  });

  test("is read as an earlier version wrote it, with or without a list entry", async () => {
    const { listing, ...item } = { ...(await stored(command)), value: wholeValue(command) };

    const whole = { ...command, outbox: unpublishedEvents(command) };
    expect(commands.fromItem({ ...item, listing })).toEqual(whole);
    expect(commands.fromItem(item)).toEqual(whole);
  });

  test("repeats no key and no list entry in its item", async () => {
    const { value } = await stored(command);

    expect(Object.keys(value)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:sender|id|account|operation|lane)$/)]),
    );
  });

  test("is refused by a version before, which leaves it as it is", async () => {
    const before = recordKind({
      kind: "command",
      schema: z.object({ sender: z.string(), id: z.string(), lane: z.string() }),
      dueAt: () => undefined,
    });
    const item = await stored(command);

    const read = (): unknown => before.fromItem(item);

    expect(read).toThrow(z.ZodError);
    expect(isUnreadable(new z.ZodError([]))).toBe(true);
  });
});

const taskEnds = () =>
  scriptProvider({
    "PATCH /cloud/v1/caas/": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/t1": () =>
      json(200, { id: "t1", state: "FINISHED", created_resources: { routers: ["r1"] } }),
  });

const RUNS: Readonly<
  Record<string, Pick<WorldOptions, "provider"> & { readonly request: object }>
> = {
  "a task": { provider: taskEnds, request: requests.updateContainer("c1") },
  "a reply": {
    provider: startProvider,
    request: requests.updatePolicy("c1"),
  },
  "a refusal": {
    provider: () => scriptProvider({ "PATCH ": () => json(400, { message: "no" }) }),
    request: requests.updatePolicy("c1"),
  },
};

/** Runs one command to its end. The nth call of a port kills its function. */
const run = async (
  { provider, request }: (typeof RUNS)[string],
  prepare: (world: World) => void,
  nth = 0,
) => {
  const faults = createFaults();
  const world = await createWorld({ provider, around: faults.around });
  prepare(world);
  faults.strike(nth, "killed");
  await world.send(request);
  await world.untilQuiet();
  const events = world.bus.published();
  return { world, events, calls: faults.calls.length };
};

/** Content of each event, without what depends on a death: counts and times. */
const contents = (events: Awaited<ReturnType<typeof run>>["events"]) =>
  Object.fromEntries(
    events.map(({ id, detailType, data }) => {
      const { attempts: _, lostReplies: __, durationMs: ___, deadline: ____, ...rest } = data;
      return [id, { detailType, ...rest }];
    }),
  );

describe.each(Object.entries(RUNS))("commands of an earlier version that end by %s", (_, each) => {
  test("publish the same events, wherever the function dies that finds them", async () => {
    const short = await run(each, () => {});
    const { calls } = await run(each, keepWhole);
    expect(calls).toBe(short.calls);

    for (let nth = 1; nth <= calls; nth += 1) {
      const whole = await run(each, keepWhole, nth);

      expect(contents(whole.events)).toEqual(contents(short.events));
      expect(await whole.world.ledger.read("command#own/c1")).toMatchObject({
        ...{ dueAt: undefined, expiresAt: expect.any(Number) },
      });
    }
  });
});

test("an event that an earlier version stored is published as it was stored", async () => {
  const world = await createWorld({ provider: taskEnds });
  const command = commandOf({ ...COMMANDS.failed, acceptedAt: world.clock.now() });
  const [accepted, failed] = unpublishedEvents(command);
  const marked = {
    ...failed,
    detail: { ...failed?.detail, data: { ...(failed?.detail.data as object), mark: "before" } },
  };
  const item = await stored(command);
  const value = { ...wholeValue(command), outbox: [accepted, marked] };
  await world.ledger.write({ ...item, value: JSON.parse(JSON.stringify(value)) });

  await world.untilQuiet();

  expect(world.bus.published().at(-1)?.data).toMatchObject({ reason: "refused", mark: "before" });
  expect(await world.command("c1")).toMatchObject({ outbox: [], state: { settled: true } });
});

test("the provider's reply is stored until its event is published, and erased with it", async () => {
  const world = await createWorld({ provider: startProvider });
  world.bus.refuse(({ detailType }) => detailType === "CommandSucceeded");
  await world.handle(requests.updatePolicy("c1"));

  const unpublished = await world.command("c1");
  world.bus.refuse(() => false);
  await world.untilQuiet();

  expect(unpublished?.state).toMatchObject({ result: { id: 1, status: "paused" }, settled: false });
  expect(world.bus.published().at(-1)?.data.result).toMatchObject({ id: 1, status: "paused" });
  expect((await world.command("c1"))?.state).not.toHaveProperty("result");
});

test("a resolution of a command of an earlier version is published once", async () => {
  const world = await createWorld({
    provider: () => scriptProvider({ "POST /cloud/v1/routers/": () => connectionLost() }),
    accounts: { local: { canList: false } },
  });
  keepWhole(world);
  await world.send(requests.createRouter("c1"));
  await world.untilQuiet();

  await resolveCommand(world.newInvocation().deps, "own/c1", { applied: true, note: "seen" });
  await world.untilQuiet();

  expect(world.publishedTypes("c1")).toEqual([
    "CommandAccepted",
    "CommandFailed",
    "CommandResolved",
  ]);
  expect(world.bus.published().at(-1)?.data).toMatchObject({ applied: true, note: "seen" });
});
