import { describe, expect, test } from "vitest";
import { cancelCommand } from "../../../lib/admin/operator-actions.ts";
import { commands } from "../../../lib/engine/command.ts";
import { finishCommand } from "../../../lib/engine/finish.ts";
import { pollDue } from "../../../lib/engine/poller/poll.ts";
import { ATTEMPT_LEASE_MS } from "../../../lib/platform/deployment.ts";
import { openInLane } from "../../support/commands.ts";
import { createGate } from "../../support/gate.ts";
import { createLossyWorld } from "../../support/lost-replies.ts";
import { json, scriptProvider, startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const CLOCK_DIFFERENCE_MS = 300_000;

const cancel = (world: World, id: string) => cancelCommand(world.newInvocation().deps, `own/${id}`);
const endOf = (world: World, id: string) =>
  world.bus
    .published()
    .filter(({ metadata }) => metadata.commandId === id)
    .at(-1);
const stopped = { kind: "stopped", status: "cancelled", reason: "requested" };

/** A provider that answers 409 for every container. */
const locked = () =>
  scriptProvider({ "PATCH /cloud/v1/caas/": () => json(409, { message: "locked" }) });

describe("a command that an operator cancels", () => {
  test("ends as cancelled while it waits behind another one, which continues", async () => {
    const world = await createWorld({ provider: startProvider });
    await world.send(requests.updateContainer("first"));
    await world.send(requests.updateContainer("second"));
    await world.deliver();

    const answer = await cancel(world, "second");
    await world.untilQuiet();

    expect(answer).toMatchObject(stopped);
    expect(world.publishedTypes("second")).toEqual(["CommandAccepted", "CommandCancelled"]);
    expect(endOf(world, "second")?.data).toMatchObject({
      reason: "requested",
      attempts: 0,
      problems: [{ path: "", rule: "an operator cancelled the command" }],
    });
    expect(world.publishedTypes("first").at(-1)).toBe("CommandSucceeded");
  });

  test("loses its request like any ended command, and records when it was cancelled", async () => {
    const world = await createWorld({ provider: locked });
    await world.handle(requests.updateContainer("c1", { envs: { TOKEN: "hush" } }));

    await cancel(world, "c1");

    expect(await world.command("c1")).toMatchObject({ cancelRequestedAt: world.clock.now() });
    expect(await world.command("c1")).not.toHaveProperty("request");
  });

  test("hands its lane to the next command, which runs", async () => {
    const provider = locked();
    const world = await createWorld({ provider: () => provider });
    await world.send(requests.updateContainer("first"));
    await world.send(requests.updateContainer("second"));
    await world.deliver();
    provider.answer("PATCH /cloud/v1/caas/", () => json(200, { tasks: [] }));

    await cancel(world, "first");
    await world.untilQuiet();

    expect(world.publishedTypes("first").at(-1)).toBe("CommandCancelled");
    expect(world.publishedTypes("second").at(-1)).toBe("CommandSucceeded");
    expect(await openInLane(world.ledger, "local/container/1234567/76/my-container")).toEqual([]);
  });

  test("leaves the lane free when the command enters it at the same moment", async () => {
    const state: { world?: World } = {};
    const world = await createWorld({
      provider: startProvider,
      around: async (call, effect) => {
        const { world: found } = state;
        if (found && call.name.startsWith("ledger.write lane")) {
          delete state.world;
          const { deps } = found.newInvocation();
          await cancelCommand(deps, "own/c1");
          await finishCommand(deps, (await commands.read(deps.ledger, "own/c1"))!);
        }
        return effect();
      },
    });
    state.world = world;

    await world.handle(requests.updateContainer("c1"));

    expect(await openInLane(world.ledger, "local/container/1234567/76/my-container")).toEqual([]);
    // The operator's process does not know what the other one has published.
    const types = new Set(world.publishedTypes("c1"));
    expect([...types]).toEqual(["CommandAccepted", "CommandCancelled"]);
  });

  test("cancels the commands that wait for it too", async () => {
    const world = await createWorld({ provider: locked });
    await world.send(requests.updateContainer("first"));
    await world.send(requests.updatePolicyWith("second", { after: ["first"] }));
    await world.deliver();

    await cancel(world, "first");
    await world.untilQuiet();

    expect(endOf(world, "second")).toMatchObject({
      detailType: "CommandCancelled",
      data: {
        reason: "dependency",
        problems: [
          { path: "after.0", rule: "command first did not succeed: cancelled (requested)" },
        ],
      },
    });
  });

  test("does not change its lane if it has not entered the lane", async () => {
    const world = await createWorld({ provider: startProvider });
    await world.send(requests.updatePolicyWith("c1", { after: ["nobody"] }));
    await world.deliver();

    const answer = await cancel(world, "c1");
    await world.untilQuiet();

    expect(answer).toMatchObject(stopped);
    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandCancelled"]);
  });

  test("ends with an unknown outcome when one of its requests got no reply", async () => {
    const { world, sent } = await createLossyWorld(["the connection breaks after the effect"]);
    await world.send(requests.createRouter("c1"));
    await world.deliver();

    const answer = await cancel(world, "c1");
    await world.untilQuiet();

    expect(answer).toMatchObject({ kind: "stopped", status: "failed", reason: "unknown-outcome" });
    expect(endOf(world, "c1")).toMatchObject({
      detailType: "CommandFailed",
      data: {
        reason: "unknown-outcome",
        lostReplies: 1,
        problems: [
          {
            rule: "request 1 got no clear reply (connection-lost); an operator cancelled the command",
          },
        ],
      },
    });
    expect(sent()).toBe(1);
  });

  test("is counted and logged once as ended", async () => {
    const world = await createWorld({ provider: locked });
    await world.handle(requests.updateContainer("c1"));

    await cancel(world, "c1");
    await cancel(world, "c1");

    expect(world.counted.filter((name) => name.startsWith("CommandEnded"))).toEqual([
      "CommandEnded cancelled",
    ]);
  });
});

describe("a cancellation is refused", () => {
  test("while tasks run: the answer names them, and they are still followed", async () => {
    const provider = scriptProvider({
      "PATCH ": () => json(200, { tasks: ["t1", "t2"] }),
      "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "FINISHED" }),
      "GET /v1/tasks/t2": () => json(200, { id: "t2", state: "RUNNING" }),
    });
    const world = await createWorld({ provider: () => provider });
    await world.send(requests.updateContainer("c1"));
    await world.pass(10_000);

    const answer = await cancel(world, "c1");

    expect(answer).toEqual({ kind: "following", taskIds: ["t2"] });
    expect((await world.command("c1"))?.state.status).toBe("following");
  });

  test("after the end: the answer has the outcome", async () => {
    const world = await createWorld({ provider: startProvider });
    await world.handle(requests.updatePolicy("c1"));
    const before = await world.ledger.read("command#own/c1");

    const answer = await cancel(world, "c1");

    expect(answer).toEqual({
      kind: "ended",
      status: "succeeded",
      endedAt: new Date(world.clock.now()).toISOString(),
    });
    expect(await world.ledger.read("command#own/c1")).toEqual(before);
  });

  test("if the command is not in the ledger", async () => {
    const world = await createWorld({ provider: startProvider });

    expect(await cancel(world, "c1")).toBeUndefined();
  });

  test("while a request is in flight, until the lease ends", async () => {
    const gate = createGate();
    const world = await createWorld({ provider: startProvider, around: gate.around });
    const sending = gate.hold("fetch PATCH");
    const handling = world.handle(requests.updatePolicy("c1"));
    await sending.reached;
    await world.clock.advance(20_000);

    const answer = await cancel(world, "c1");
    sending.open();
    await handling;

    expect(answer).toEqual({ kind: "under-way", waitMs: ATTEMPT_LEASE_MS - 20_000 });
    expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
  });
});

describe("a request of a dead function", () => {
  const dying = async () => {
    const gate = createGate();
    const world = await createWorld({ provider: startProvider, around: gate.around });
    const sending = gate.hold("fetch PATCH");
    void world.handle(requests.updatePolicy("c1"));
    await sending.reached;
    return world;
  };

  test("blocks the cancellation for five more minutes, because the operator's clock may be ahead", async () => {
    const world = await dying();
    await world.clock.advance(ATTEMPT_LEASE_MS + CLOCK_DIFFERENCE_MS - 1);

    expect(await cancel(world, "c1")).toEqual({ kind: "under-way", waitMs: 1_000 });
  });

  test("makes the outcome unknown when its command is cancelled", async () => {
    const world = await dying();
    await world.clock.advance(ATTEMPT_LEASE_MS + CLOCK_DIFFERENCE_MS);

    const answer = await cancel(world, "c1");

    expect(answer).toMatchObject({ kind: "stopped", status: "failed", reason: "unknown-outcome" });
    expect(await world.command("c1")).toMatchObject({
      lostReplies: 1,
      attempts: [{ disposition: "lost" }],
    });
  });

  test("does not delay the cancellation after the poller has ended the attempt", async () => {
    const world = await dying();
    await world.clock.advance(ATTEMPT_LEASE_MS);
    // Without its message, no second attempt is faster than the operator.
    const queue = { send: async () => {} };
    const budget = { endsAt: world.clock.now() + 1, signal: new AbortController().signal };
    await pollDue({ ...world.newInvocation().deps, queue }, budget);

    expect(await cancel(world, "c1")).toMatchObject({ kind: "stopped", reason: "unknown-outcome" });
  });
});

describe("a cancellation", () => {
  test("at the moment when an attempt begins prevents the send or comes too late", async () => {
    for (const isFirst of [true, false]) {
      const gate = createGate();
      const provider = scriptProvider({ "PATCH ": () => json(200, { tasks: [] }) });
      const world = await createWorld({ provider: () => provider, around: gate.around });
      const starting = gate.hold(isFirst ? "ledger.write lane#" : "fetch PATCH");
      const handling = world.handle(requests.updateContainer("c1"));
      await starting.reached;

      const answer = await cancel(world, "c1");
      starting.open();
      await handling;
      await world.untilQuiet();

      expect(answer?.kind).toBe(isFirst ? "stopped" : "under-way");
      expect(provider.count("PATCH ")).toBe(isFirst ? 0 : 1);
      expect(world.publishedTypes("c1").at(-1)).toBe(
        isFirst ? "CommandCancelled" : "CommandSucceeded",
      );
    }
  });

  test("loses against an attempt that began after the read, and returns the end of the attempt", async () => {
    const gate = createGate();
    const world = await createWorld({ provider: startProvider, around: gate.around });
    await world.send(requests.updatePolicyWith("c1", { after: ["none"] }));
    await world.deliver();
    const writing = gate.hold("ledger.write command#own/c1");
    const cancelling = cancel(world, "c1");
    await writing.reached;
    await world.send(requests.updateContainer("none"));
    await world.untilQuiet();

    writing.open();

    expect(await cancelling).toMatchObject({ kind: "ended", status: "succeeded" });
    expect(world.publishedTypes("c1").filter((type) => type === "CommandCancelled")).toEqual([]);
  });

  test("that is repeated, at once or later, gets the same answer and publishes one event", async () => {
    const world = await createWorld({ provider: locked });
    await world.handle(requests.updateContainer("c1"));

    const answers = await Promise.all([cancel(world, "c1"), cancel(world, "c1")]);
    await world.untilQuiet();
    const later = await cancel(world, "c1");

    expect(answers[0]).toMatchObject(stopped);
    expect([answers[1], later]).toEqual([answers[0], answers[0]]);
    expect(new Set(world.bus.published().map(({ id }) => id)).size).toBe(2);
  });
});
