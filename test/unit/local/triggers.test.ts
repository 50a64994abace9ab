import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { openDelayQueue } from "../../../lib/local/delay-queue.ts";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import { openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import { createWakeSignal, startTriggers } from "../../../lib/local/triggers.ts";
import { createRecordingLog } from "../../support/logs.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const START = Date.UTC(2026, 0, 1);

/** Triggers over real queues on virtual time, with functions of the test. */
const createRun = async () => {
  const clock = createVirtualClock(START);
  const random = createSeededRandom();
  const log = createRecordingLog();
  const store = createMemoryStore();
  const commandQueue = await openFifoQueue({
    map: store.map("commands"),
    clock,
    random,
    maxReceiveCount: 5,
  });
  const requestQueue = await openFifoQueue({
    map: store.map("requests"),
    clock,
    random,
    maxReceiveCount: 5,
  });
  const wakeQueue = await openDelayQueue({ map: store.map("wake"), clock, random });
  const wakeSignal = createWakeSignal();
  const batches: string[][] = [];
  const polls: { readonly at: number; readonly by: string }[] = [];
  let receives = 0;
  const requests: string[][] = [];
  let accept = async (_event: SQSEvent): Promise<SQSBatchResponse> => ({ batchItemFailures: [] });
  let answer = async (_event: SQSEvent): Promise<SQSBatchResponse> => ({ batchItemFailures: [] });
  let receive = commandQueue.receive;
  const start = () =>
    startTriggers({
      clock,
      random,
      log,
      wakeSignal,
      wakeQueue,
      requestQueue,
      intake: async (event) => {
        requests.push(event.Records.map(({ body }) => body));
        return accept(event);
      },
      commandQueue: {
        ...commandQueue,
        receive: (...args) => {
          receives += 1;
          return receive(...args);
        },
      },
      runCommands: async (event) => {
        batches.push(event.Records.map(({ body }) => body));
        return answer(event);
      },
      pollTasks: async (event) => {
        const by = "Records" in event ? "wake" : "schedule";
        polls.push({ at: clock.now() - START, by });
      },
    });
  return {
    clock,
    log,
    wakeQueue,
    requestQueue,
    wakeSignal,
    batches,
    /** Bodies of events for intake, by batch. */
    requests,
    async put(body: string) {
      const id = random.uuid();
      await requestQueue.send({ body, groupId: id, deduplicationId: id });
      wakeSignal.notify();
    },
    acceptWith(next: typeof accept) {
      accept = next;
    },
    polls,
    start,
    receives: () => receives,
    async send(body: string, groupId = "lane") {
      await commandQueue.send({ body, groupId, deduplicationId: random.uuid() });
      wakeSignal.notify();
    },
    answerWith(next: typeof answer) {
      answer = next;
    },
    /** Makes the function run until the returned callback is called. */
    hold(): () => void {
      let open = (): void => undefined;
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      answer = async () => {
        await opened;
        return { batchItemFailures: [] };
      };
      return () => open();
    },
    receiveWith(next: typeof receive) {
      receive = next;
    },
    receive: commandQueue.receive,
  };
};

describe("the local triggers", () => {
  it("deliver a message immediately", async () => {
    const run = await createRun();
    const triggers = run.start();
    await run.clock.advance(0);

    await run.send("first");
    await run.clock.advance(0);
    await triggers.stop();

    expect(run.batches).toEqual([["first"]]);
  });

  it("poll an idle queue at most a few times a second", async () => {
    const run = await createRun();
    const triggers = run.start();

    await run.clock.advance(100_000);
    await triggers.stop();

    expect(run.receives()).toBeLessThanOrEqual(4 * 101);
  });

  it("deliver the next message of a lane after the previous one is done", async () => {
    const run = await createRun();
    await run.send("first");
    const open = run.hold();
    const triggers = run.start();
    await run.clock.advance(0);

    await run.send("second");
    await run.clock.advance(10_000);
    const meanwhile = [...run.batches];
    open();
    await run.clock.advance(0);
    await triggers.stop();

    expect(meanwhile).toEqual([["first"]]);
    expect(run.batches).toEqual([["first"], ["second"]]);
  });

  it("deliver messages of several lanes in parallel after a batch is done", async () => {
    const run = await createRun();
    await run.send("a1", "a");
    await run.send("b1", "b");
    const open = run.hold();
    run.start();
    await run.clock.advance(0);
    const tail = Array.from({ length: 10 }, (_, index) => `a${index + 2}`);
    for (const body of tail) await run.send(body, "a");
    await run.send("b2", "b");

    run.hold();
    open();
    await run.clock.advance(0);

    expect(run.batches).toEqual([["a1", "b1"], tail, ["b2"]]);
  });

  it("redeliver only the failed message of a batch", async () => {
    const run = await createRun();
    await run.send("good", "a");
    await run.send("bad", "b");
    const idOf = (event: SQSEvent, body: string) =>
      event.Records.filter((record) => record.body === body).map(({ messageId }) => ({
        itemIdentifier: messageId,
      }));
    run.answerWith(async (event) => ({ batchItemFailures: idOf(event, "bad") }));
    const triggers = run.start();

    await run.clock.advance(36_000);
    await triggers.stop();

    expect(run.batches).toEqual([["good", "bad"], ["bad"]]);
  });

  it("redeliver a whole batch when the function fails", async () => {
    const run = await createRun();
    await run.send("first");
    run.answerWith(() => Promise.reject(new Error("no message could be handled")));
    const triggers = run.start();

    await run.clock.advance(36_000);
    await triggers.stop();

    expect(run.batches).toEqual([["first"], ["first"]]);
    expect(run.log.lines[0]).toMatchObject({
      level: "warn",
      message: "batch not handled, it will be received again",
    });
  });

  it("deliver events to intake immediately, and redeliver only failed ones", async () => {
    const run = await createRun();
    await run.put("good");
    await run.put("bad");
    run.acceptWith(async (event) => ({
      batchItemFailures: event.Records.filter(({ body }) => body === "bad").map(
        ({ messageId }) => ({ itemIdentifier: messageId }),
      ),
    }));
    const triggers = run.start();
    await run.clock.advance(0);
    const atOnce = [...run.requests];

    await run.clock.advance(36_000);
    await triggers.stop();

    expect(atOnce).toEqual([["good", "bad"]]);
    expect(run.requests).toEqual([["good", "bad"], ["bad"]]);
  });

  it("make an event a dead letter after the maximum number of failed receives", async () => {
    const run = await createRun();
    await run.put("bad");
    run.acceptWith(() => Promise.reject(new Error("no message of the batch could be handled")));
    const triggers = run.start();

    await run.clock.advance(6 * 36_000);
    await triggers.stop();

    expect(run.requests).toHaveLength(5);
    expect(run.requestQueue.deadLetters()).toMatchObject([{ body: "bad" }]);
  });

  it("run the poller at the start, every minute, and at each due wake signal", async () => {
    const run = await createRun();
    const triggers = run.start();
    await run.clock.advance(0);

    await run.wakeQueue.wakeAt(START + 2_345);
    run.wakeSignal.notify();
    await run.clock.advance(60_000);
    await triggers.stop();

    expect(run.polls).toEqual([
      { at: 0, by: "schedule" },
      { at: 2_345, by: "wake" },
      { at: 60_000, by: "schedule" },
    ]);
  });

  it("continue after a queue could not be read", async () => {
    const run = await createRun();
    await run.send("first");
    run.receiveWith(() => Promise.reject(new Error("no space left")));
    const triggers = run.start();
    await run.clock.advance(0);

    run.receiveWith(run.receive);
    await run.clock.advance(1_000);
    await triggers.stop();

    expect(run.batches).toEqual([["first"]]);
    expect(run.log.lines[0]).toMatchObject({
      level: "error",
      fields: { errorMessage: "Error: no space left" },
    });
  });

  it("stop immediately when they are idle, and start nothing afterwards", async () => {
    const run = await createRun();
    const triggers = run.start();
    await run.clock.advance(0);

    await triggers.stop();
    await run.send("late");
    await run.clock.advance(120_000);

    expect(run.batches).toEqual([]);
    expect(run.polls).toHaveLength(1);
  });

  it("stop only after running invocations have ended", async () => {
    const run = await createRun();
    await run.send("first");
    const open = run.hold();
    const triggers = run.start();
    await run.clock.advance(0);
    let hasStopped = false;

    const stopped = triggers.stop().then(() => {
      hasStopped = true;
    });
    await run.clock.advance(0);
    const early = hasStopped;
    open();
    await stopped;

    expect(early).toBe(false);
    expect(await run.receive(10, 1_000)).toEqual([]);
  });
});
