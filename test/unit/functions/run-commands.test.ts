import type { SQSEvent } from "aws-lambda";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cancelCommand } from "../../../lib/admin/operator-actions.ts";
import type { Around } from "../../support/faults.ts";
import example from "../../support/fixtures/sqs-fifo-event.json" with { type: "json" };
import {
  createRouter,
  resumeInstance,
  updateContainer,
  updatePolicy,
  updatePool,
} from "../../support/requests.ts";
import { createFunctionWorld, failing } from "./function-world.ts";

/** The documented event with one record for each body; their ids are m1, m2, … */
const eventOf = (...bodies: readonly unknown[]): SQSEvent => ({
  Records: bodies.map((body, index) => {
    const [record] = example.Records;
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return { ...record!, messageId: `m${index + 1}`, body: text };
  }),
});

const failures = (...ids: readonly string[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});

describe("run-commands", () => {
  it("runs and acknowledges the messages of the queue", async () => {
    const world = await createFunctionWorld();
    const { runCommands } = world.skyhook();
    const context = world.contextOf(30_000);

    const answer = await runCommands(eventOf(resumeInstance("r1"), updatePolicy("p1")), context);

    expect(answer).toEqual(failures());
    expect(world.publishedTypes("r1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect(world.publishedTypes("p1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect(world.bound).toEqual([context]);
  });

  it("asks for one wake signal where several tasks begin at nearly the same time", async () => {
    const world = await createFunctionWorld();
    const { runCommands } = world.skyhook();
    const begin = (request: unknown) => runCommands(eventOf(request), world.contextOf(30_000));

    await begin(updateContainer("c1"));
    const first = world.clock.now() + 2_000;
    await world.clock.advance(1_000);
    await begin(updatePool("c2"));
    await world.clock.advance(700);
    // The first signal comes in 300 ms, and the due index may not show this task by then.
    await begin(createRouter("c3"));

    expect(world.wakes).toEqual([first, first + 1_700]);
  });

  it("returns an unreadable message and handles the others", async () => {
    const world = await createFunctionWorld();
    const { access } = world.newInvocation().deps;
    let asked = 0;
    const accountsOf = (sender: string) => {
      asked += 1;
      if (asked === 1) throw new Error("rights cannot be read");
      return access.accountsOf(sender);
    };

    const answer = await world
      .skyhook({ access: { ...access, accountsOf } })
      .runCommands(
        eventOf(updatePolicy("broken"), resumeInstance("beside")),
        world.contextOf(30_000),
      );

    expect(answer).toEqual(failures("m1"));
    expect(world.publishedTypes("beside").at(-1)).toBe("CommandSucceeded");
  });

  it("returns the failed message and the later ones of its lane only", async () => {
    const world = await createFunctionWorld(failing("command#own/broken"));
    const { runCommands } = world.skyhook();
    const event = eventOf(
      updatePolicy("first"),
      updatePolicy("broken"),
      resumeInstance("beside"),
      updatePolicy("behind"),
    );

    const answer = await runCommands(event, world.contextOf(30_000));

    expect(answer).toEqual(failures("m2", "m4"));
    expect(world.publishedTypes("behind")).toEqual([]);
    expect(world.publishedTypes("first")).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect(world.publishedTypes("beside")).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect(world.log.lines.filter(({ level }) => level === "error")).toEqual([
      {
        level: "error",
        message: "message not handled; the queue delivers it again",
        fields: {
          messageId: "m2",
          correlationId: "broken",
          commandId: "broken",
          sender: "own",
          account: "local",
          lane: "local/policy/1234567/76/1",
          operation: "update-policy",
          errorKind: "Error",
          errorMessage: "command#own/broken is away",
          stack: expect.stringMatching(/^Error: command#own\/broken is away\n +at /),
        },
      },
    ]);
  });

  it("fails as a whole when every message failed, and logs each error", async () => {
    const world = await createFunctionWorld(failing("command#"));
    const { runCommands } = world.skyhook();
    const event = eventOf(resumeInstance("r1"), updatePolicy("p1"));

    await expect(runCommands(event, world.contextOf(30_000))).rejects.toThrow(
      "no message of the batch could be handled",
    );

    expect(world.log.lines.map(({ message }) => message)).toEqual([
      "message not handled; the queue delivers it again",
      "message not handled; the queue delivers it again",
      "invocation failed",
    ]);
  });

  it.each([
    ["accepting the command", "ledger.read lane#local/policy/1234567/76/1"],
    ["recording the attempt", "ledger.write command#own/hung"],
    ["entering the lane", "ledger.write lane#local/policy/1234567/76/1"],
  ])("returns a command when AWS does not answer, and runs it later: %s", async (_step, name) => {
    let isHanging = true;
    const hang: Around = async (call, effect) => {
      if (call.name !== name || !isHanging) return effect();
      await world.clock.advance(12_000);
      throw Object.assign(new Error("no answer"), { name: "TimeoutError" });
    };
    const world = await createFunctionWorld(hang);
    const { runCommands } = world.skyhook();
    const hung = updatePolicy("hung");

    const answer = await runCommands(
      eventOf(hung, resumeInstance("beside")),
      world.contextOf(30_000),
    );
    isHanging = false;
    const second = await runCommands(eventOf(hung), world.contextOf(30_000));
    await world.untilQuiet();

    expect(answer).toEqual(failures("m1"));
    expect(world.publishedTypes("beside")).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect(second).toEqual(failures());
    // A function that published the acceptance without another write leaves it to be published again.
    const types = new Set(world.publishedTypes("hung"));
    expect([...types]).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  it("accepts every command of a slow lane, and returns none that it did not start", async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `p${index + 1}`);
    const slow: Around = async (call, effect) => {
      if (call.name.startsWith("fetch ")) await world.clock.advance(9_000);
      return effect();
    };
    const world = await createFunctionWorld(slow);
    const event = eventOf(...ids.map((id) => updatePolicy(id)));

    const answer = await world.skyhook().runCommands(event, world.contextOf(30_000));
    const toldAtFirst = ids.map((id) => world.publishedTypes(id));
    await world.deliver();

    expect(answer).toEqual(failures());
    expect(toldAtFirst).toEqual([
      ...ids.slice(0, 2).map(() => ["CommandAccepted", "CommandSucceeded"]),
      ...ids.slice(2).map(() => ["CommandAccepted"]),
    ]);
    const ends = world.bus.published().filter(({ detailType }) => detailType.endsWith("Succeeded"));
    expect(ends.map(({ metadata }) => metadata.commandId)).toEqual(ids);
    expect(world.errors).toEqual([]);
  });

  it("defers an attempt when a slow ledger leaves too little time", async () => {
    let isSlow = true;
    const slow: Around = async (call, effect) => {
      if (isSlow && call.name === "ledger.write command#own/p1") await world.clock.advance(9_000);
      return effect();
    };
    const world = await createFunctionWorld(slow);
    const context = world.contextOf(15_000);

    const answer = await world.skyhook().runCommands(eventOf(updatePolicy("p1")), context);
    const sent = world.calls.filter((name) => name.startsWith("fetch "));
    isSlow = false;
    await world.deliver();

    expect(answer).toEqual(failures());
    expect(sent).toEqual([]);
    expect(world.publishedTypes("p1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect((await world.command("p1"))?.lostReplies).toBe(0);
  });

  it("lets the poller start a deferred command after its message was lost", async () => {
    const world = await createFunctionWorld();
    const context = world.contextOf(12_999);
    const answer = await world.skyhook().runCommands(eventOf(updatePolicy("p1")), context);
    for (const { receiptHandle } of await world.queue.receive(10, 1_000)) {
      await world.queue.acknowledge(receiptHandle);
    }

    await world.untilQuiet();

    expect(answer).toEqual(failures());
    expect(world.publishedTypes("p1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  it("defers a resuming message as a new message, and runs the command once", async () => {
    const world = await createFunctionWorld();
    await world.skyhook().runCommands(eventOf(updatePolicy("p1")), world.contextOf(12_999));
    const [first] = await world.queue.receive(1, 1_000);
    await world.queue.acknowledge(first?.receiptHandle ?? "");

    const answer = await world.skyhook().runCommands(eventOf(first?.body), world.contextOf(12_999));
    const toldAtFirst = world.publishedTypes("p1");
    await world.deliver();

    expect(answer).toEqual(failures());
    expect(toldAtFirst).toEqual(["CommandAccepted"]);
    expect(world.publishedTypes("p1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  it("leaves the lane free and the end to the poller when an operator ended a deferred command before it entered", async () => {
    const cancelled: Around = async (call, effect) => {
      const answer = await effect();
      if (call.name.startsWith("ledger.write lane#") && !isCancelled) {
        isCancelled = true;
        await cancelCommand(world.newInvocation().deps, "own/p1");
      }
      return answer;
    };
    let isCancelled = false;
    const world = await createFunctionWorld(cancelled);

    await world.skyhook().runCommands(eventOf(updatePolicy("p1")), world.contextOf(12_999));
    await world.skyhook().runCommands(eventOf(updatePolicy("p2")), world.contextOf(30_000));

    expect(world.publishedTypes("p2")).toEqual(["CommandAccepted", "CommandSucceeded"]);
    await world.untilQuiet();
    expect([...new Set(world.publishedTypes("p1"))]).toEqual([
      "CommandAccepted",
      "CommandCancelled",
    ]);
  });

  it("starts nothing and returns everything without time to record", async () => {
    const world = await createFunctionWorld();
    const { runCommands } = world.skyhook();
    const event = eventOf(resumeInstance("r1"), updatePolicy("p1"));

    const answer = await runCommands(event, world.contextOf(3_999));

    expect(answer).toEqual(failures("m1", "m2"));
    expect(world.calls).toEqual([]);
    expect(world.log.lines).toEqual([]);
  });

  it("acknowledges and logs a message of unknown shape", async () => {
    const world = await createFunctionWorld();
    const { runCommands } = world.skyhook();

    const answer = await runCommands(eventOf("Test message."), world.contextOf(30_000));

    expect(answer).toEqual(failures());
    expect(world.publishedTypes()).toEqual([]);
    expect(world.log.lines).toMatchObject([
      { level: "warn", message: "request rejected without an event: it has no id" },
    ]);
  });

  it("rejects an invalid command once, and runs the others of the batch", async () => {
    const world = await createFunctionWorld();
    const { runCommands } = world.skyhook();
    const invalid = updateContainer("bad", { listening_port: 70_000 });

    const answer = await runCommands(eventOf(invalid, updatePolicy("p1")), world.contextOf(30_000));

    expect(answer).toEqual(failures());
    expect(world.publishedTypes("bad")).toEqual(["CommandRejected"]);
    expect(world.publishedTypes("p1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  it("runs two commands of one lane in the order of their messages", async () => {
    const world = await createFunctionWorld();
    const { runCommands } = world.skyhook();

    await runCommands(eventOf(updatePolicy("p1"), updatePolicy("p2")), world.contextOf(30_000));

    expect(
      world.bus.published().map(({ detailType, metadata }) => [metadata.commandId, detailType]),
    ).toEqual([
      ["p1", "CommandAccepted"],
      ["p1", "CommandSucceeded"],
      ["p2", "CommandAccepted"],
      ["p2", "CommandSucceeded"],
    ]);
  });

  it("acknowledges a batch of arbitrary bodies, because a retry would not help", async () => {
    const world = await createFunctionWorld();
    const { runCommands } = world.skyhook();
    const body = fc.oneof(fc.string(), fc.json(), fc.json({ maxDepth: 60, depthSize: "large" }));

    await fc.assert(
      fc.asyncProperty(fc.array(body, { maxLength: 10 }), async (bodies) => {
        const answer = await runCommands(eventOf(...bodies), world.contextOf(30_000));

        expect(answer).toEqual(failures());
      }),
    );
    expect(world.publishedTypes()).toEqual([]);
  });
});
