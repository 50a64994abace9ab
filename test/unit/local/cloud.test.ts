import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { type AwsLimits, awsLimitsOf } from "../../../lib/local/aws-limits.ts";
import { type CloudOptions, type FunctionSchedule, openCloud } from "../../../lib/local/cloud.ts";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import { runSchedule } from "../../../lib/local/event-sources.ts";
import type { Machine } from "../../../lib/local/lambda.ts";
import { createLimitedAws } from "../../../lib/local/limited-aws.ts";
import type { Skyhook } from "../../../lib/skyhook.ts";
import { createRecordingLog } from "../../support/logs.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const START = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;

const POLLER: FunctionSchedule = {
  name: "poll-tasks",
  target: "poll-tasks",
  periodMs: MINUTE_MS,
  firstMs: 0,
};

type Answer = (event: SQSEvent) => Promise<SQSBatchResponse>;

const allHandled: Answer = async () => ({ batchItemFailures: [] });
const failing = (): Promise<never> => Promise.reject(new Error("failed on purpose"));
const endless = (): Promise<never> => new Promise(() => {});

const bodiesOf = (event: SQSEvent): readonly string[] => event.Records.map(({ body }) => body);

/** Handles all messages of a batch but those with this body. */
const allBut =
  (body: string): Answer =>
  async ({ Records }) => ({
    batchItemFailures: Records.filter((record) => record.body === body).map(({ messageId }) => ({
      itemIdentifier: messageId,
    })),
  });

/** A cloud on virtual time, with functions of the test on machines that can be killed. */
const openRun = async ({
  limits,
  ...options
}: Partial<CloudOptions> & { readonly limits?: Partial<AwsLimits> } = {}) => {
  const clock = createVirtualClock(START);
  const aws = limits && createLimitedAws({ ...awsLimitsOf(), ...limits }, clock);
  const random = createSeededRandom();
  const log = createRecordingLog();
  const own = { clock, random, log, store: createMemoryStore(), ...(aws && { aws }) };
  const cloud = await openCloud({ ...own, ...options });
  const run = {
    cloud,
    clock,
    log,
    machines: [] as Machine[],
    /** Bodies of the messages of each batch. */
    batches: [] as (readonly string[])[],
    requests: [] as (readonly string[])[],
    /** Runs of the poller and of the sync, by time since the start. */
    polls: [] as (readonly [atMs: number, by: string])[],
    syncs: [] as number[],
    contexts: [] as Context[],
    runCommands: allHandled,
    intake: allHandled,
    sync: async (): Promise<void> => {},
    start(schedules: readonly FunctionSchedule[] = []) {
      cloud.start({ startMachine, schedules });
    },
    send: (body: string, groupId = "lane") =>
      cloud.commandQueue.send({ body, groupId, deduplicationId: random.uuid() }),
    /** Makes run-commands run until the returned callback is called. */
    hold(): () => void {
      let open = (): void => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      run.runCommands = async (event) => {
        await opened;
        return allHandled(event);
      };
      return () => open();
    },
  };
  const skyhook: Skyhook = {
    async intake(event) {
      run.requests.push(bodiesOf(event as SQSEvent).map((body) => JSON.parse(body)));
      return run.intake(event as SQSEvent);
    },
    async runCommands(event, context) {
      run.batches.push(bodiesOf(event));
      run.contexts.push(context);
      return run.runCommands(event);
    },
    async pollTasks(event) {
      run.polls.push([clock.now() - START, "Records" in event ? "wake" : "schedule"]);
    },
    syncThresholds() {
      run.syncs.push(clock.now() - START);
      return run.sync();
    },
    async snapshotPrices() {},
    async watchAiTasks() {},
  };
  const startMachine = (_target: string, name: string): Machine => {
    const death = new AbortController();
    const kill = () => death.abort("killed");
    const parts = { name, clock, skyhook, death: death.signal, kill, suspendedMs: () => 0 };
    run.machines.push(parts);
    return parts;
  };
  return run;
};

describe("the queues of the local cloud", () => {
  it("deliver a message immediately", async () => {
    const run = await openRun();
    run.start();
    await run.clock.advance(0);

    await run.send("first");
    await run.clock.advance(0);

    expect(run.batches).toEqual([["first"]]);
  });

  it("take an event with characters that SQS refuses in a body", async () => {
    const run = await openRun();

    await run.cloud.put({ text: "a\uFFFF\u0000b" }, "e1");

    expect(run.cloud.requestQueue.size()).toBe(1);
  });

  it("are not polled while they are empty", async () => {
    const run = await openRun();
    let reads = 0;
    const { nextAt } = run.cloud.commandQueue;
    run.cloud.commandQueue.nextAt = () => {
      reads += 1;
      return nextAt();
    };
    run.start();

    await run.clock.advance(60 * MINUTE_MS);

    expect(reads).toBeLessThanOrEqual(2 * 61);
  });

  it("deliver at most ten messages at once", async () => {
    const run = await openRun();
    for (let n = 1; n <= 12; n += 1) await run.send(String(n), `lane-${n}`);
    run.start();

    await run.clock.advance(0);

    expect(run.batches.map((batch) => batch.length)).toEqual([10, 2]);
  });

  it("keep AWS's limits if the cloud has them", async () => {
    const run = await openRun({ limits: { queueCalls: 2, lookAhead: 22 } });
    for (let n = 1; n <= 25; n += 1) {
      await run.send(String(n), `lane-${n}`);
      await run.clock.advance(500);
    }
    run.hold();
    run.start();
    await run.clock.advance(0);
    const inOneSecond = run.batches.map((batch) => batch.length);
    await run.clock.advance(MINUTE_MS);

    expect(inOneSecond).toEqual([10, 10]);
    expect(run.batches.map((batch) => batch.length)).toEqual([10, 10, 2]);
    await run.send("26");
    await run.send("27");
    await expect(run.send("28")).rejects.toThrow("AWS throttles SendMessage");
  });

  it("deliver the next message of a lane after the previous one is done", async () => {
    const run = await openRun();
    await run.send("first");
    const open = run.hold();
    run.start();
    await run.clock.advance(0);

    await run.send("second");
    await run.clock.advance(10_000);
    const meanwhile = [...run.batches];
    open();
    await run.clock.advance(0);

    expect(meanwhile).toEqual([["first"]]);
    expect(run.batches).toEqual([["first"], ["second"]]);
  });

  it("invoke run-commands at most ten times in parallel", async () => {
    const run = await openRun();
    const open = run.hold();
    run.start();
    for (let n = 1; n <= 15; n += 1) {
      await run.send(String(n), `lane-${n}`);
      await run.clock.advance(0);
    }
    const inParallel = run.batches.length;

    open();
    await run.clock.advance(0);

    expect(inParallel).toBe(10);
    expect(run.batches.flat()).toHaveLength(15);
    expect(run.machines).toHaveLength(10);
  });

  it("redeliver only the failed message of a batch", async () => {
    const run = await openRun();
    await run.send("good", "a");
    await run.send("bad", "b");
    run.runCommands = allBut("bad");
    run.start();

    await run.clock.advance(181_000);

    expect(run.batches).toEqual([["good", "bad"], ["bad"]]);
  });

  it("redeliver a whole batch when the function fails", async () => {
    const run = await openRun();
    await run.send("first");
    run.runCommands = failing;
    run.start();

    await run.clock.advance(181_000);

    expect(run.batches).toEqual([["first"], ["first"]]);
    expect(run.log.lines[0]).toMatchObject({
      level: "warn",
      message: "batch not handled, it will be received again",
      fields: { queue: "commands", errorMessage: "Error: failed on purpose" },
    });
  });

  it("make a message a dead letter after the maximum number of failed receives", async () => {
    const run = await openRun({ numbers: { requests: { visibilityMs: 1_000 } } });
    await run.cloud.put("bad");
    run.intake = failing;
    run.start();

    await run.clock.advance(20_000);

    expect(run.requests).toHaveLength(10);
    expect(run.cloud.requestQueue.deadLetters()).toMatchObject([{ body: '"bad"' }]);
  });

  it("deliver a redriven dead letter immediately", async () => {
    const run = await openRun({
      numbers: { commands: { maxReceiveCount: 1, visibilityMs: 1_000 } },
    });
    await run.send("bad");
    run.runCommands = failing;
    run.start();
    await run.clock.advance(2_000);
    const [letter] = run.cloud.commandQueue.deadLetters();
    run.runCommands = allHandled;

    await run.cloud.commandQueue.redrive(letter?.messageId ?? "none");
    await run.clock.advance(0);

    expect(run.batches).toEqual([["bad"], ["bad"]]);
  });

  it("deliver events to intake, each also next to another one that intake has", async () => {
    const run = await openRun();
    run.intake = endless;
    run.start();

    await run.cloud.put("first");
    await run.clock.advance(0);
    await run.cloud.put("second");
    await run.clock.advance(0);

    expect(run.requests).toEqual([["first"], ["second"]]);
  });

  it("are read again after they could not be read", async () => {
    const run = await openRun();
    await run.send("first");
    const { receive } = run.cloud.commandQueue;
    run.cloud.commandQueue.receive = () => Promise.reject(new Error("no space left"));
    run.start();
    await run.clock.advance(0);

    run.cloud.commandQueue.receive = receive;
    await run.clock.advance(1_000);

    expect(run.batches).toEqual([["first"]]);
    expect(run.log.lines[0]).toMatchObject({
      level: "error",
      fields: { errorMessage: "Error: no space left" },
    });
  });

  it("start nothing after the stop, which waits for running invocations", async () => {
    const run = await openRun();
    await run.send("first");
    const open = run.hold();
    run.start([POLLER]);
    await run.clock.advance(0);
    let hasStopped = false;

    const stopped = run.cloud.stop().then(() => {
      hasStopped = true;
    });
    await run.clock.advance(0);
    const early = hasStopped;
    open();
    await stopped;
    await run.send("late");
    await run.clock.advance(10 * MINUTE_MS);

    expect(early).toBe(false);
    expect(run.batches).toEqual([["first"]]);
    expect(run.polls).toHaveLength(1);
    expect(run.cloud.commandQueue.size()).toBe(1);
  });
});

describe("the functions of the local cloud", () => {
  it("run each invocation on a free machine, or else on a new one", async () => {
    const run = await openRun();
    run.start();
    for (const body of ["first", "second"]) {
      await run.send(body);
      await run.clock.advance(0);
    }

    expect(run.machines.map(({ name }) => name)).toEqual(["run-commands-1"]);
  });

  it("lose the machine of an invocation that exceeds its time limit", async () => {
    const run = await openRun();
    run.runCommands = endless;
    run.start();
    await run.send("first");

    await run.clock.advance(29_999);
    const before = run.machines.map(({ death }) => death.aborted);
    await run.clock.advance(1);
    run.runCommands = allHandled;
    await run.clock.advance(180_000);

    expect(before).toEqual([false]);
    expect(run.machines.map(({ death }) => death.aborted)).toEqual([true, false]);
    expect(run.batches).toEqual([["first"], ["first"]]);
    expect(run.contexts[0]?.getRemainingTimeInMillis()).toBe(0);
  });

  it("repeat a failed asynchronous call after one minute and after two more", async () => {
    const run = await openRun();
    run.sync = failing;
    run.start();

    const isDone = run.cloud.notify("sync-thresholds", {} as never);
    await run.clock.advance(60 * MINUTE_MS);

    expect(await isDone).toBe(false);
    expect(run.syncs).toEqual([0, MINUTE_MS, 3 * MINUTE_MS]);
    expect(run.cloud.isBusy()).toBe(false);
  });

  it("repeat no asynchronous call that has no retries", async () => {
    const run = await openRun();
    run.start([{ ...POLLER, target: "watch-ai-tasks", periodMs: 60 * MINUTE_MS }]);

    await run.clock.advance(10 * MINUTE_MS);

    expect(run.machines.map(({ name }) => name)).toEqual(["watch-ai-tasks-1"]);
  });

  it("run the poller at each tick and at each due wake signal", async () => {
    const run = await openRun();
    run.start([POLLER]);
    await run.clock.advance(0);

    await run.cloud.wakeQueue.wakeAt(START + 2_345, 0);
    await run.clock.advance(MINUTE_MS);

    expect(run.polls).toEqual([
      [0, "schedule"],
      [2_345, "wake"],
      [MINUTE_MS, "schedule"],
    ]);
  });

  it("keep their period when the system clock is set back", async () => {
    const clock = createVirtualClock(START);
    let setBackMs = 0;
    const ticks: number[] = [];
    const stopping = new AbortController();
    const running = runSchedule(POLLER, () => ticks.push((clock.now() - START) / MINUTE_MS), {
      clock: { ...clock, now: () => clock.now() - setBackMs },
      stopping: stopping.signal,
    });
    await clock.advance(MINUTE_MS);

    setBackMs = 60 * MINUTE_MS;
    await clock.advance(2 * MINUTE_MS);
    stopping.abort();
    await running;

    expect(ticks).toEqual([0, 1, 2, 3]);
  });
});

describe("a disturbance of the local cloud", () => {
  /** Strikes the first occurrence of that name with that kind. */
  const striking = (name: string, kind: string) => {
    let isOver = false;
    return {
      visit(place: string, kinds: readonly string[]) {
        const strikes = !isOver && place === name && kinds.includes(kind);
        isOver ||= strikes;
        return { place, kind: strikes ? kind : undefined };
      },
      between: (_name: string, _from: number, to: number) => to,
    };
  };

  it.each([
    ["comes twice", [0, 120_000]],
    ["held up", [90_000]],
  ])("makes a delivery that %s", async (kind, at) => {
    const run = await openRun({ disturbance: striking("delivery commands", kind) });
    const startedAt: number[] = [];
    run.runCommands = async (event) => {
      startedAt.push(run.clock.now() - START);
      return allHandled(event);
    };
    await run.send("first");
    run.start();

    await run.clock.advance(10 * MINUTE_MS);

    expect(startedAt).toEqual(at);
    expect(run.cloud.isBusy()).toBe(false);
  });

  it.each([
    ["acknowledgement commands", "acknowledgement lost", 0],
    ["delivery commands", "comes again early", 25_000],
  ])("at %s: %s, so the message comes again", async (name, kind, durationMs) => {
    const run = await openRun({ disturbance: striking(name, kind) });
    run.runCommands = async (event) => {
      await run.clock.sleep(durationMs);
      return allHandled(event);
    };
    await run.send("first");
    run.start();

    await run.clock.advance(10 * MINUTE_MS);

    expect(run.batches).toEqual([["first"], ["first"]]);
  });

  it.each([
    ["tick lost", [[MINUTE_MS, "schedule"]]],
    [
      "tick twice",
      [
        [0, "schedule"],
        [0, "schedule"],
        [MINUTE_MS, "schedule"],
      ],
    ],
  ])("of a schedule: %s", async (kind, polls) => {
    const run = await openRun({ disturbance: striking("tick poll-tasks", kind) });
    run.start([POLLER]);

    await run.clock.advance(MINUTE_MS);

    expect(run.polls).toEqual(polls);
  });

  it.each([
    ["event late", [180_000]],
    ["event twice", [0, 60_000]],
  ])("of a notification: %s", async (kind, syncs) => {
    const run = await openRun({ disturbance: striking("notification sync-thresholds", kind) });
    run.start();

    void run.cloud.notify("sync-thresholds", {} as never);
    await run.clock.advance(10 * MINUTE_MS);

    expect(run.syncs).toEqual(syncs);
  });

  it("of an event for intake: it comes twice", async () => {
    const run = await openRun({ disturbance: striking("event e1", "event twice") });
    run.start();

    await run.cloud.put("first", "e1");
    await run.clock.advance(10 * MINUTE_MS);

    expect(run.requests).toEqual([["first"], ["first"]]);
  });
});
