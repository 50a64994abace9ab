import { expect, test } from "vitest";
import { cancelCommand } from "../../../lib/admin/operator-actions.ts";
import { checkLane } from "../../../lib/engine/advance.ts";
import { commands } from "../../../lib/engine/command.ts";
import { lanes, MAX_WAITING } from "../../../lib/engine/lane.ts";
import { pollDue } from "../../../lib/engine/poller/poll.ts";
import { ATTEMPT_LEASE_MS } from "../../../lib/platform/deployment.ts";
import type { LedgerItem } from "../../../lib/platform/ports/ledger.ts";
import { commandOf } from "../../support/commands.ts";
import { createGate } from "../../support/gate.ts";
import { json, scriptProvider, startProvider } from "../../support/provider.ts";
import { createRouter, updateContainer, updatePolicy } from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

const running = () =>
  scriptProvider({
    "POST /cloud/v1/routers/": () => json(200, { tasks: ["t1"] }),
    "PATCH /cloud/v1/caas/": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "RUNNING" }),
  });

test("a delivery that is overtaken by a second one while it publishes does not send again", async () => {
  const provider = running();
  const gate = createGate();
  const world = await createWorld({ provider: () => provider, around: gate.around });
  const publishing = gate.hold("bus.publish");

  const slow = world.handle(createRouter("c1"));
  await publishing.reached;
  await world.handle(createRouter("c1"));
  publishing.open();
  await slow;

  expect(provider.count("POST /cloud/v1/routers/")).toBe(1);
  expect((await world.command("c1"))?.state).toMatchObject({ status: "following" });
});

test("a command that a dying process put into its lane after its end keeps no other out", async () => {
  const provider = running();
  const gate = createGate();
  const world = await createWorld({ provider: () => provider, around: gate.around });
  const publishing = gate.hold("bus.publish");
  void world.handle(updateContainer("c1"));
  await publishing.reached;
  await cancelCommand(world.newInvocation().deps, "own/c1");
  await world.clock.advance(40_000);
  await world.poll();
  const ended = await world.command("c1");
  // The process puts the command into its lane, and gets no further.
  const dying = gate.hold("ledger.write command#own/c1");
  publishing.open();
  await dying.reached;
  const held = await lanes.read(world.ledger, ended!.lane);

  await world.handle(updateContainer("c2"));

  expect(ended?.state).toMatchObject({ reason: "requested", settled: true });
  expect(held?.value).toMatchObject({ holder: "own/c1" });
  expect((await world.command("c2"))?.state).toMatchObject({ status: "following" });
});

test("a command that enters its lane while the holder ends runs at once", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: startProvider, around: gate.around });
  const sending = gate.hold("fetch PATCH");
  const first = world.handle(updatePolicy("c1"));
  await sending.reached;
  // The second one has read that the first one runs. The first one reads the lane before the second one is in it.
  const entering = gate.hold("ledger.write lane#");
  const second = world.handle(updatePolicy("c2"));
  await entering.reached;
  sending.open();
  await first;
  entering.open();
  await second;
  const now = world.clock.now();

  await world.deliver();

  expect((await world.command("c2"))?.state).toMatchObject({ status: "succeeded", endedAt: now });
});

test("the poller does not write a command after sending it to the queue, because an attempt may run", async () => {
  const provider = running();
  provider.answer("PATCH /cloud/v1/caas/", () => json(429, {}));
  const world = await createWorld({ provider: () => provider });
  await world.handle(updateContainer("c1"));
  await world.clock.advance(2_000);

  let whenCalled: LedgerItem | undefined;
  const queue = {
    send: async () => {
      whenCalled = await world.ledger.read("command#own/c1");
    },
  };
  const budget = { endsAt: world.clock.now() + 1, signal: new AbortController().signal };
  await pollDue({ ...world.newInvocation().deps, queue }, budget);

  expect(whenCalled).toBeDefined();
  expect(await world.ledger.read("command#own/c1")).toEqual(whenCalled);
});

test("a lease that expires at the deadline leaves an unknown outcome", async () => {
  const gate = createGate();
  const provider = running();
  const world = await createWorld({ provider: () => provider, around: gate.around });
  const deadline = new Date(world.clock.now() + ATTEMPT_LEASE_MS / 2).toISOString();
  const request = updateContainer("c1", {}, { deadline });
  gate.hold("fetch PATCH");
  void world.handle(request);
  await world.clock.advance(ATTEMPT_LEASE_MS);

  // The message is redelivered before the poller's check.
  await world.handle(request);

  expect((await world.command("c1"))?.state).toMatchObject({
    status: "failed",
    reason: "unknown-outcome",
  });
  expect(world.bus.published().at(-1)?.data).toMatchObject({ lostReplies: 1 });
});

test("an attempt that may still send is not changed until its lease ends", async () => {
  const gate = createGate();
  const provider = running();
  const world = await createWorld({ provider: () => provider, around: gate.around });
  gate.hold("fetch POST");
  void world.handle(createRouter("c1"));
  await world.clock.advance(ATTEMPT_LEASE_MS - 1);
  const whileSending = await world.command("c1");

  // The message is redelivered, and the poller checks the command, before the lease ends.
  await world.handle(createRouter("c1"));
  const budget = { endsAt: world.clock.now(), signal: new AbortController().signal };
  await pollDue(world.newInvocation().deps, budget);

  expect(await world.command("c1")).toEqual(whileSending);
  expect(whileSending?.state).toMatchObject({ status: "running", lease: {} });
  expect(whileSending?.lostReplies).toBe(0);
});

test("a lane that a late delivery gives to an ended command is freed for the next one", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: startProvider, around: gate.around });
  const entering = gate.hold("ledger.write lane#");

  const late = world.handle(updatePolicy("c1"));
  await entering.reached;
  await world.handle(updatePolicy("c1"));
  entering.open();
  await late;
  await world.send(updatePolicy("c2"));
  await world.untilQuiet();

  expect((await world.command("c2"))?.state).toMatchObject({ status: "succeeded" });
});

test("a lane with a holder that is not in the ledger passes to the next command", async () => {
  const world = await createWorld({ provider: startProvider });
  const lane = "local/policy/1234567/76/1";
  await lanes.write(world.ledger, lane, undefined, {
    holder: "own/forgotten",
    waiting: ["own/also-forgotten"],
    changedAt: world.clock.now(),
    checkAt: world.clock.now(),
  });

  await world.send(updatePolicy("c1"));
  await world.untilQuiet();

  expect((await world.command("c1"))?.state).toMatchObject({ status: "succeeded" });
});

test("a command that an earlier version put behind a holder that has ended runs after the check of the lane", async () => {
  const world = await createWorld({ provider: startProvider });
  await world.send(updatePolicy("c1"));
  await world.untilQuiet();
  const { lane } = (await world.command("c1"))!;
  // What that version writes: the command waits, and the lane is due.
  const now = world.clock.now();
  await lanes.change(world.ledger, lane, (current) => ({
    ...current!,
    waiting: ["own/c2"],
    checkAt: now + 30_000,
  }));
  await commands.write(
    world.ledger,
    "own/c2",
    undefined,
    commandOf({
      ...{ id: "c2", operation: "update-policy", lane, acceptedAt: now, deadline: now + 600_000 },
      params: { project_id: 1234567, region_id: 76, policy_id: 1 },
      request: {
        params: { project_id: 1234567, region_id: 76, policy_id: 1 },
        query: {},
        body: { status: "paused" },
      },
      state: { status: "waiting" },
    }),
  );

  await world.untilQuiet();

  const { state } = (await world.command("c2"))!;
  expect(state).toMatchObject({ status: "succeeded" });
  expect("endedAt" in state && state.endedAt - now).toBeGreaterThanOrEqual(30_000);
});

test("the check of a grant leaves a later grant to the same command unconfirmed", async () => {
  const provider = running();
  const gate = createGate();
  const world = await createWorld({ provider: () => provider, around: gate.around });
  await world.handle(updateContainer("c1"));
  await world.handle(updateContainer("c2"));
  const { lane } = (await world.command("c1"))!;
  await world.clock.advance(30_000);
  const reading = gate.hold("ledger.read command#");
  const check = checkLane(world.newInvocation().deps, lane);
  await reading.reached;
  const changing = gate.hold("ledger.read lane#");
  reading.open();
  await changing.reached;
  // The command ended, and a process that was suspended too put it into its lane again.
  const checkAt = world.clock.now() + 30_000;
  await lanes.update(world.ledger, lane, (current) => ({ ...current, checkAt }));

  changing.open();
  await check;

  expect((await lanes.read(world.ledger, lane))?.value).toMatchObject({ checkAt });
});

test("a process that was suspended during its attempt publishes no end of the command before that of its task", async () => {
  const provider = running();
  const gate = createGate();
  const world = await createWorld({ provider: () => provider, around: gate.around });
  const sending = gate.hold("fetch PATCH");
  const slow = world.handle(updateContainer("c1"));
  await sending.reached;
  // A second attempt follows the task to its end, and the bus takes no event of that.
  await world.clock.advance(ATTEMPT_LEASE_MS + 1_000);
  await world.poll();
  await world.deliver();
  provider.answer("GET /v1/tasks/t1", () => json(200, { id: "t1", state: "FINISHED" }));
  world.bus.refuse(() => true);
  await world.clock.advance(2_000);
  await world.poll(3_000);
  world.bus.refuse(() => false);

  sending.open();
  await slow;

  expect((await world.command("c1"))?.state).toMatchObject({ status: "succeeded" });
  expect(world.publishedTypes()).toEqual(["CommandAccepted"]);
  await world.untilQuiet();
  expect(world.publishedTypes()).toEqual(["CommandAccepted", "TaskFinished", "CommandSucceeded"]);
});

test("a resume message that is delivered twice runs the command once", async () => {
  const provider = running();
  const world = await createWorld({ provider: () => provider });
  await world.handle(updateContainer("c1"));
  await world.handle(updateContainer("c2"));
  provider.answer("GET /v1/tasks/t1", () => json(200, { id: "t1", state: "FINISHED" }));
  provider.answer("PATCH /cloud/v1/caas/", () => json(200, { tasks: ["t2"] }));
  const resume = { resume: { command: "own/c2", lane: (await world.command("c2"))!.lane } };

  await world.handle(resume);
  await world.clock.advance(2_000);
  await world.poll();
  await world.handle(resume);
  await world.handle(resume);

  expect((await world.command("c2"))?.attemptCount).toBe(1);
  expect(provider.count("PATCH ")).toBe(2);
});

test("a message that resumes an unknown command is acknowledged", async () => {
  const world = await createWorld({ provider: startProvider });

  await world.send({ resume: { command: "own/none", lane: "somewhere" } });
  await world.untilQuiet();

  expect(world.errors).toEqual([]);
});

test("a command that finds its lane full after it was accepted enters when there is room", async () => {
  const provider = running();
  provider.answer("GET /v1/tasks/t1", () => json(200, { id: "t1", state: "FINISHED" }));
  const gate = createGate();
  const world = await createWorld({ provider: () => provider, around: gate.around });
  const lane = "local/container/1234567/76/my-container";
  const entering = gate.hold("bus.publish");
  const handling = world.handle(updateContainer("c1"));
  await entering.reached;
  const waiting = Array.from({ length: MAX_WAITING }, (_, index) => `own/w${index}`);
  const checkAt = world.clock.now();
  await lanes.write(world.ledger, lane, undefined, { holder: "own/h", waiting, changedAt: 1 });

  entering.open();
  await handling;
  expect((await world.command("c1"))?.state.status).toBe("accepted");
  // It looks for room every 30 s, however long it has waited: no message brings it in.
  await world.pass(10 * 60_000);
  const outside = await world.command("c1");
  await lanes.update(world.ledger, lane, (full) => ({ ...full, waiting: [], checkAt }));
  await world.pass(45_000);

  expect(outside?.state.status).toBe("accepted");
  expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
});

test("a message that is redelivered before the poller's check treats a dead attempt as uncertain", async () => {
  const provider = running();
  provider.answer("GET /cloud/v1/tasks", () => json(200, { count: 0, results: [] }));
  const gate = createGate();
  const world = await createWorld({ provider: () => provider, around: gate.around });
  const recording = gate.hold("fetch POST");
  void world.handle(createRouter("c1"));
  await recording.reached;
  await world.clock.advance(ATTEMPT_LEASE_MS);

  await world.handle(createRouter("c1"));

  expect(provider.count("POST /cloud/v1/routers/")).toBe(0);
  expect(await world.command("c1")).toMatchObject({ lostReplies: 1, state: { status: "running" } });
});
