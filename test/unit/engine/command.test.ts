import * as fc from "fast-check";
import { expect, test } from "vitest";
import * as record from "../../../lib/engine/command.ts";
import * as transitions from "../../../lib/engine/command-transitions.ts";
import { commandOf } from "../../support/commands.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";

/** The record and all its transitions. */
const machine = { ...record, ...transitions };

type Command = record.Command;
type Step = (command: Command, now: number) => Command;

/** Ids of these events of the command. */
const idsOf = (...events: Command["outbox"]): ReadonlySet<string> =>
  new Set(events.map((each) => record.outboxIdOf(commandOf(), each)));

const TASK_IDS = ["t1", "t2", "t3"];
const STEPS: Readonly<Record<string, Step>> = {
  waitInLane: machine.waitInLane,
  checkLater: machine.checkLater,
  startAttempt: (command, now) =>
    machine.startAttempt(command, { by: "me", now, leaseUntil: now + 60_000 }),
  endAttempt: (command, now) =>
    machine.endAttempt(command, { endedAt: now, disposition: "transient", code: "locked" }),
  waitBeforeSending: (command, now) => machine.waitBeforeSending(command, now + 5_000),
  loseLease: machine.loseLease,
  markUncertain: machine.markUncertain,
  followTasks: (command) => machine.followTasks(command, ["t1", "t2", "t1"]),
  followOthers: (command) => machine.followTasks(command, ["t3"]),
  tasksRecorded: machine.tasksRecorded,
  finishFirst: (command) => machine.recordTaskEnd(command, "t1", { kind: "finished" }),
  failFirst: (command) => machine.recordTaskEnd(command, "t1", { kind: "failed", message: "no" }),
  succeed: (command, now) => machine.endCommand(command, { status: "succeeded", endedAt: now }),
  fail: (command, now) =>
    machine.endCommand(command, { status: "failed", endedAt: now, reason: "r" }),
  leaveUnknown: (command, now) =>
    machine.endCommand(command, { status: "failed", endedAt: now, reason: "unknown-outcome" }),
  noteCancelRequest: machine.noteCancelRequest,
  publish: (command) =>
    machine.markPublished(command, idsOf("CommandAccepted", "CommandSucceeded", "CommandFailed")),
  finalize: machine.finalize,
};

const course = fc.array(
  fc.record({
    step: fc.constantFrom(...Object.keys(STEPS)),
    pass: fc.constantFrom(-5_000, 0, 1_000, 61_000),
  }),
  { maxLength: 25 },
);

/** Runs a sequence of transitions. @returns every state of the command, with the step that led to it */
const walk = (steps: typeof course extends fc.Arbitrary<infer T> ? T : never) => {
  let now = 1_000;
  let command = commandOf({ deadline: 40_000, outbox: ["CommandAccepted"] });
  return steps.map(({ step, pass }) => {
    now += pass;
    const before = command;
    command = STEPS[step]!(command, now);
    return { step, now, before, after: command };
  });
};

test("an end is final: no later transition changes it", () => {
  void fc.assert(
    fc.property(course, (steps) => {
      const ended = walk(steps).filter(({ before }) => machine.isEnded(before));
      for (const { before, after } of ended) {
        const { settled: _, ...saidBefore } = before.state as record.EndedState;
        expect(after.state).toMatchObject(saidBefore);
        expect(after.outbox.length).toBeLessThanOrEqual(before.outbox.length);
      }
    }),
  );
});

test("the request is stored until the command's end and then erased", () => {
  void fc.assert(
    fc.property(course, (steps) => {
      for (const { after } of walk(steps)) {
        expect("request" in after).toBe(!machine.isEnded(after));
      }
    }),
  );
});

/** Whether an item of its tasks is due for it. */
const isWatched = (command: Command): boolean =>
  machine.isEnded(command)
    ? machine.isEndedByTasks(command.state)
    : command.state.status === "following" && command.state.tasksRecorded;

test("a command is due until it is finalized, and not after, unless its tasks are due for it", () => {
  void fc.assert(
    fc.property(course, (steps) => {
      for (const { after } of walk(steps)) {
        const isSettled = machine.isEnded(after) && after.state.settled;
        expect(machine.commands.dueAt(after) === undefined).toBe(isSettled || isWatched(after));
      }
    }),
  );
});

test("a command is checked no later than its deadline, unless an attempt is running", () => {
  void fc.assert(
    fc.property(course, (steps) => {
      for (const { after } of walk(steps)) {
        const isSending = after.state.status === "running" && after.state.lease !== undefined;
        if (machine.isEnded(after) || isSending || isWatched(after)) continue;
        expect(machine.commands.dueAt(after)).toBeLessThanOrEqual(after.deadline);
      }
    }),
  );
});

test("while an attempt runs, a command is due when its lease ends, even after its deadline", () => {
  const command = commandOf({ deadline: 40_000 });

  const sending = machine.startAttempt(command, { by: "me", now: 39_000, leaseUntil: 84_000 });

  expect(machine.commands.dueAt(sending)).toBe(84_000);
});

test("only an ended command with everything published is finalized, and it always can be", () => {
  void fc.assert(
    fc.property(course, (steps) => {
      for (const { after } of walk(steps)) {
        if (!machine.isEnded(after)) continue;
        expect(after.state.settled && after.outbox.length > 0).toBe(false);
        const settled = machine.finalize(STEPS.publish!(after, 0));
        expect(settled.state).toMatchObject({ settled: true });
      }
    }),
  );
});

test("a command that follows tasks never sends again and keeps every task id", () => {
  void fc.assert(
    fc.property(course, (steps) => {
      for (const { before, after } of walk(steps)) {
        if (before.state.status !== "following") continue;
        expect(["following", "succeeded", "failed"]).toContain(after.state.status);
        const kept = "tasks" in after.state ? after.state.tasks.map(({ id }) => id) : [];
        expect(kept).toEqual(before.state.tasks.map(({ id }) => id));
        expect(TASK_IDS).toEqual(expect.arrayContaining(kept));
      }
    }),
  );
});

test("the first recorded end of a task stays", () => {
  void fc.assert(
    fc.property(course, (steps) => {
      for (const { before, after } of walk(steps)) {
        if (before.state.status !== "following") continue;
        const known = before.state.tasks.filter(({ end }) => end);
        expect("tasks" in after.state && after.state.tasks).toEqual(expect.arrayContaining(known));
      }
    }),
  );
});

test("while an attempt runs, only its owner changes the command", () => {
  const others = ["waitInLane", "checkLater", "loseLease", "tasksRecorded", "finishFirst"];
  const running = machine.startAttempt(commandOf(), { by: "me", now: 2_000, leaseUntil: 62_000 });

  const after = others.map((name) => STEPS[name]!(running, 61_999));

  expect(after.every((command) => command === running)).toBe(true);
});

test("a function that died while sending leaves a send with an unknown outcome", () => {
  const running = machine.startAttempt(commandOf(), { by: "me", now: 2_000, leaseUntil: 62_000 });

  const lost = machine.loseLease(running, 62_000);

  expect(lost).toMatchObject({
    lostReplies: 1,
    uncertain: { firstSentAt: 2_000, lastSentAt: 62_000 },
    state: { status: "running", notBefore: 62_000 },
  });
  expect(lost.state).not.toHaveProperty("lease");
});

test("the first of several uncertain sends is remembered beside the last", () => {
  const send = (command: Command, now: number) =>
    machine.startAttempt(command, { by: "me", now, leaseUntil: now + 60_000 });

  const once = machine.markUncertain(send(commandOf(), 2_000), 5_000);
  const twice = machine.markUncertain(send(once, 9_000), 12_000);

  expect(twice.uncertain).toEqual({ firstSentAt: 2_000, lastSentAt: 12_000 });
});

test("the end of an attempt is recorded once, and on the newest attempt only", () => {
  const first = machine.startAttempt(commandOf(), { by: "me", now: 2_000, leaseUntil: 62_000 });
  const lost = machine.loseLease(first, 62_000);
  const second = machine.startAttempt(lost, { by: "me", now: 63_000, leaseUntil: 123_000 });

  const ended = machine.endAttempt(second, { endedAt: 64_000, disposition: "answered" });
  const again = machine.endAttempt(ended, { endedAt: 65_000, disposition: "ambiguous" });

  expect(again.attempts).toEqual([
    { startedAt: 2_000, endedAt: 62_000, disposition: "lost" },
    { startedAt: 63_000, endedAt: 64_000, disposition: "answered" },
  ]);
});

test("a resolution is kept once, and makes its command due again until it is published", () => {
  void fc.assert(
    fc.property(course, (steps) => {
      const command = walk(steps).at(-1)?.after ?? commandOf();
      const found = { applied: true, resolvedAt: 900_000 };

      const resolved = machine.resolveOutcome(command, found);
      const again = machine.resolveOutcome(resolved, { applied: false, resolvedAt: 950_000 });

      expect(again).toBe(resolved);
      if (!machine.isEnded(command) || command.state.reason !== "unknown-outcome") {
        expect(resolved).toBe(command);
        return;
      }
      expect(resolved).toMatchObject({ resolution: found, state: { settled: false } });
      expect(resolved.state).toEqual({ ...command.state, settled: false });
      expect(machine.commands.dueAt(resolved)).toBe(905_000);
      const published = machine.markPublished(
        STEPS.publish!(resolved, 0),
        idsOf("CommandResolved"),
      );
      expect(machine.commands.dueAt(machine.finalize(published))).toBeUndefined();
    }),
  );
});

test("the ledger returns every state of a command as it was written", async () => {
  await fc.assert(
    fc.asyncProperty(course, async (steps) => {
      const command = walk(steps).at(-1)?.after ?? commandOf();
      const ledger = createMemoryLedger();

      await machine.commands.write(ledger, "own/c1", undefined, command);

      expect((await machine.commands.read(ledger, "own/c1"))?.value).toEqual(command);
    }),
  );
});

test("a resolution does not extend the retention of a command", async () => {
  const ledger = createMemoryLedger();
  const ended = machine.finalize(STEPS.publish!(STEPS.leaveUnknown!(commandOf(), 5_000), 0));
  const found = { applied: false, resolvedAt: 900_000 };

  const resolved = machine.resolveOutcome(ended, found);
  const published = machine.finalize(machine.markPublished(resolved, idsOf("CommandResolved")));
  await machine.commands.write(ledger, "resolved", undefined, published);

  expect((await ledger.read("command#resolved"))?.expiresAt).toBe(5_184_005_000);
});

test("a finished command is kept for 60 days, longer than any request for it can still be accepted", async () => {
  const ledger = createMemoryLedger();
  const ended = STEPS.succeed!(commandOf(), 5_000);
  const following = machine.followTasks(commandOf(), ["t1"]);
  const byTask = machine.recordTaskEnd(following, "t1", { kind: "finished" });

  await machine.commands.write(ledger, "open", undefined, ended);
  await machine.commands.write(
    ledger,
    "settled",
    undefined,
    machine.finalize(STEPS.publish!(ended, 0)),
  );
  await machine.commands.write(ledger, "by-task", undefined, STEPS.succeed!(byTask, 5_000));

  expect((await ledger.read("command#open"))?.expiresAt).toBeUndefined();
  expect((await ledger.read("command#by-task"))?.expiresAt).toBe(5_184_005_000);
  expect((await ledger.read("command#settled"))?.expiresAt).toBe(5_184_005_000);
});
