import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_WAITING } from "../../../lib/engine/lane.ts";
import { json, scriptProvider, startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const MINUTE_MS = 60_000;
const world = (): Promise<World> => createWorld({ provider: startProvider });
const waitingFor = (id: string, ...ids: readonly string[]) =>
  requests.updatePolicyWith(id, { after: ids });
const inFuture = (from: World, ms: number) => new Date(from.clock.now() + ms).toISOString();
const endOf = (current: World, id: string) =>
  current.bus
    .published()
    .filter(({ metadata }) => metadata.commandId === id)
    .at(-1)!;

/** The end events of all commands, in order. */
const ends = (current: World): readonly string[] =>
  current.bus
    .published()
    .filter(({ detailType }) => /^Command(Succeeded|Failed|Cancelled)$/.test(detailType))
    .map(({ metadata, detailType }) => `${metadata.commandId} ${detailType}`);

test("a command runs when the task of the command in its `after` has ended", async () => {
  const current = await world();

  await current.send(waitingFor("second", "first"));
  await current.send(requests.updateContainer("first"));
  await current.deliver();
  const waiting = await current.command("second");
  await current.untilQuiet();

  expect(waiting?.state.status).toBe("waiting");
  expect(ends(current)).toEqual(["first CommandSucceeded", "second CommandSucceeded"]);
  // The task takes 10 s; the wait is checked after each further fifth of it.
  expect(endOf(current, "second").data.durationMs).toBeLessThan(16_000);
});

test("the poller gets a wake signal for the next check of a waiting command", async () => {
  const current = await world();

  await current.handle(waitingFor("second", "first"));

  expect(current.wakes).toEqual([current.clock.now() + 2_000]);
});

test("a command that is named twice in `after` counts once", async () => {
  const current = await world();

  await current.handle(waitingFor("second", "first", "first"));

  expect((await current.command("second"))?.after).toEqual(["first"]);
});

test("a command that waits for two runs after both", async () => {
  const current = await world();

  await current.send(waitingFor("third", "first", "second"));
  await current.send(requests.updateContainer("first"));
  await current.send(requests.updatePool("second"));
  await current.untilQuiet();

  expect(ends(current).at(-1)).toBe("third CommandSucceeded");
  expect(ends(current)).toHaveLength(3);
});

test("a command that waits is in no lane, so it delays no other", async () => {
  const current = await world();
  await current.handle(waitingFor("waiting", "later"));

  await current.handle(requests.updatePolicy("other"));

  expect(current.publishedTypes("other").at(-1)).toBe("CommandSucceeded");
});

test("a command that waits is not rejected for a full lane, and enters when there is room", async () => {
  const current = await world();
  const lane = "local/policy/1234567/76/1";
  const crowd = Array.from({ length: MAX_WAITING }, (_, index) => `own/w${index}`);
  const full = { holder: "own/h", waiting: crowd, changedAt: current.clock.now() };
  const item = { key: `lane#${lane}`, version: 1, value: full };
  await current.ledger.write(item);

  await current.handle(requests.updateContainer("first"));
  await current.handle(waitingFor("second", "first"));
  await current.pass(60_000);
  const outside = await current.command("second");
  await current.ledger.write({ ...item, version: 2, value: { waiting: [], changedAt: 0 } });
  await current.untilQuiet();

  expect(outside?.state.status).toBe("waiting");
  expect(current.publishedTypes("second").at(-1)).toBe("CommandSucceeded");
});

describe("a command that waits for another one, which", () => {
  const failing = () => scriptProvider({ "PATCH ": () => json(400, { message: "no" }) });

  test("failed, is cancelled, and so is the command that waits for it", async () => {
    const current = await createWorld({ provider: failing });

    await current.send(waitingFor("third", "second"));
    await current.send(waitingFor("second", "first"));
    await current.send(requests.updateContainer("first"));
    await current.untilQuiet();

    expect(endOf(current, "second").data).toMatchObject({
      reason: "dependency",
      after: ["first"],
      problems: [{ path: "after.0", rule: "command first did not succeed: failed (refused)" }],
    });
    expect(endOf(current, "third").data.problems).toEqual([
      { path: "after.0", rule: "command second did not succeed: cancelled (dependency)" },
    ]);
    expect(current.publishedTypes("third").at(-1)).toBe("CommandCancelled");
  });

  test("failed, is cancelled at once, while others in its `after` continue", async () => {
    const current = await createWorld({ provider: failing });
    await current.handle(waitingFor("other", "never-sent"));
    await current.handle(waitingFor("second", "other", "first"));

    await current.handle(requests.updateContainer("first"));
    await current.pass(30_000);

    expect(endOf(current, "second").data.problems).toEqual([
      { path: "after.1", rule: "command first did not succeed: failed (refused)" },
    ]);
  });

  test("has already succeeded, runs at once", async () => {
    const current = await world();
    await current.handle(requests.updatePolicy("first"));

    await current.handle(waitingFor("second", "first"));

    expect(current.publishedTypes("second").at(-1)).toBe("CommandSucceeded");
  });

  test("has already failed, is cancelled at once, without entering a lane", async () => {
    const current = await createWorld({ provider: failing });
    await current.handle(requests.updateContainer("first"));

    await current.handle(waitingFor("second", "first"));

    expect(current.publishedTypes("second")).toEqual(["CommandAccepted", "CommandCancelled"]);
    expect(endOf(current, "second").data.attempts).toBe(0);
  });

  test("is not accepted before the deadline, is cancelled at the deadline", async () => {
    const current = await world();
    const deadline = inFuture(current, 5 * MINUTE_MS);
    await current.handle(requests.updatePolicyWith("second", { after: ["never-sent"], deadline }));

    await current.pass(4 * MINUTE_MS);
    const before = await current.command("second");
    await current.untilQuiet();

    expect(before?.state.status).toBe("waiting");
    expect(endOf(current, "second").data).toMatchObject({
      reason: "dependency",
      problems: [
        { path: "after.0", rule: "command never-sent was not accepted before the deadline" },
      ],
    });
  });

  test("still runs at the deadline, fails with reason deadline", async () => {
    const current = await world();
    const deadline = inFuture(current, 5_000);
    await current.handle(requests.updateContainer("first"));
    await current.handle(requests.updatePolicyWith("second", { after: ["first"], deadline }));

    await current.untilQuiet();

    expect(endOf(current, "second").data).toMatchObject({
      reason: "deadline",
      problems: [
        { path: "deadline", rule: "passed while the command waited for the commands in after" },
      ],
    });
  });

  test("was a dry run, is cancelled unless it is a dry run itself", async () => {
    const current = await world();
    await current.handle(requests.updatePolicyWith("first", { dryRun: true }));

    await current.handle(waitingFor("second", "first"));
    await current.handle(requests.updatePolicyWith("third", { after: ["first"], dryRun: true }));

    expect(endOf(current, "second").data.problems).toEqual([
      { path: "after.0", rule: "command first was a dry run" },
    ]);
    expect(endOf(current, "third").data.outcome).toBe("dry-run");
  });

  test("belongs to another sender, keeps waiting", async () => {
    const rights = requests.shared("111111111111");
    const current = await createWorld({ provider: startProvider, rights });
    await current.handle(requests.updatePolicy("first"));

    await current.handleFrom("111111111111", waitingFor("second", "first"));

    const second = await current.command("second", "111111111111");
    expect(second?.state.status).toBe("waiting");
  });
});

describe("commands that wait for each other", () => {
  test("are rejected when a request would close the cycle", async () => {
    const current = await world();
    await current.handle(waitingFor("a", "b"));
    await current.handle(waitingFor("b", "c"));

    await current.handle(waitingFor("c", "a"));

    const { detailType, data } = endOf(current, "c");
    expect([detailType, data.reason]).toEqual(["CommandRejected", "invalid"]);
    expect(data.problems).toEqual([
      { path: "after", rule: "forms a cycle: these commands already wait for this one" },
    ]);
  });

  test("are accepted if one of them has already entered its lane", async () => {
    const current = await world();
    await current.handle(waitingFor("a", "b"));
    await current.handle(requests.updateContainer("b"));
    await current.pass(15_000);
    // The command of its `after` has succeeded, so it waits for no other.
    const entered = (await current.ledger.read("command#own/a"))!;
    const state = { status: "running", notBefore: 9e15, lookAt: 9e15 };
    await current.ledger.write({
      ...entered,
      version: entered.version + 1,
      value: { ...entered.value, after: ["c"], state },
    });

    await current.handle(waitingFor("c", "a"));

    expect(current.publishedTypes("c")).toEqual(["CommandAccepted"]);
  });

  test("end as cancelled when both were accepted at the same time", async () => {
    const current = await world();
    const cut = current.ledger.read.bind(current.ledger);
    let isBlind = true;
    current.ledger.read = async (key) =>
      isBlind && key.startsWith("command#") ? undefined : cut(key);
    const [a, b] = [current.handle(waitingFor("a", "b")), current.handle(waitingFor("b", "a"))];
    isBlind = false;
    await Promise.all([a, b]);

    await current.untilQuiet();

    expect(ends(current).toSorted()).toEqual(["a CommandCancelled", "b CommandCancelled"]);
    expect(endOf(current, "b").data.durationMs).toBeLessThan(MINUTE_MS);
  });

  test("are rejected when one depends on more than a hundred", async () => {
    const current = await world();
    await current.handle(waitingFor("c0", "never-sent"));
    for (let at = 1; at <= 99; at += 1) await current.handle(waitingFor(`c${at}`, `c${at - 1}`));

    await current.handle(waitingFor("c100", "c99"));

    expect(current.publishedTypes("c99")).toEqual(["CommandAccepted"]);
    expect(endOf(current, "c100").data).toMatchObject({
      reason: "invalid",
      problems: [
        { path: "after", rule: "depends on more than 100 commands, directly or through others" },
      ],
    });
  });
});

/** Up to eight commands in three lanes, each after any of the others, sent in any order. */
const graph = fc
  .array(
    fc.record({
      lane: fc.constantFrom("container", "pool", "policy"),
      after: fc.uniqueArray(fc.nat({ max: 8 }), { maxLength: 3 }),
      fails: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .chain((commands) =>
    fc.record({
      commands: fc.constant(commands),
      order: fc.shuffledSubarray([...commands.keys()], { minLength: commands.length }),
    }),
  );

const REQUEST_IN = {
  container: (id: string, data: object) => requests.updateContainer(id, {}, { ...data }),
  pool: (id: string, data: object) => requests.updatePool(id, { ...data }),
  policy: (id: string, data: object) => requests.updatePolicyWith(id, { ...data }),
} as const;

const ENDS = /^Command(Succeeded|Failed|Cancelled|Rejected)$/;

type Graph = typeof graph extends fc.Arbitrary<infer T> ? T : never;

const sendGraph = async (current: World, { commands, order }: Graph): Promise<void> => {
  for (const index of order) {
    const { lane, after, fails } = commands[index]!;
    const data = {
      after: after.map((other) => `c${other}`),
      deadline: inFuture(current, 20 * MINUTE_MS),
      ...(fails && { params: { project_id: 1 } }),
    };
    await current.send(REQUEST_IN[lane](`c${index}`, data));
  }
};

/** The status of each ended command, and its position among the ends. */
const endsById = (current: World) =>
  new Map(
    current.bus
      .published()
      .filter(({ detailType }) => ENDS.test(detailType))
      .map(({ metadata, detailType }, at) => [metadata.commandId, { at, detailType }]),
  );

/** Whether every command in its `after` succeeded before it. */
const isInOrder = (
  { commands }: Graph,
  index: number,
  endOfId: ReturnType<typeof endsById>,
): boolean => {
  const own = endOfId.get(`c${index}`)!;
  const before = commands[index]!.after.map((other) => endOfId.get(`c${other}`));
  return before.every((other) => other?.detailType === "CommandSucceeded" && other.at < own.at);
};

test("in any graph of `after` and lanes, every command ends, and none runs before the commands that it waits for", async () => {
  await fc.assert(
    fc.asyncProperty(graph, async (drawn) => {
      const current = await world();
      await sendGraph(current, drawn);

      await current.untilQuiet();

      const endOfId = endsById(current);
      expect(endOfId.size).toBe(drawn.commands.length);
      const succeeded = drawn.order.filter(
        (index) => endOfId.get(`c${index}`)?.detailType === "CommandSucceeded",
      );
      expect(succeeded.filter((index) => !isInOrder(drawn, index, endOfId))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
