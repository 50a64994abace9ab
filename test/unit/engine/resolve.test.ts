import { describe, expect, test } from "vitest";
import type { Verdict } from "../../../lib/admin/answers.ts";
import { resolveCommand } from "../../../lib/admin/operator-actions.ts";
import { lanes } from "../../../lib/engine/lane.ts";
import { connectionLost, json, scriptProvider, startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const HOUR_MS = 60 * 60_000;
const LANE = "local/router/1234567/76";

const resolve = (world: World, verdict: Verdict, id = "c1") =>
  resolveCommand(world.newInvocation().deps, `own/${id}`, verdict);

/** A world in which `c1` has ended with an unknown outcome. */
const unknown = async () => {
  const provider = scriptProvider({ "POST /cloud/v1/routers/": () => connectionLost() });
  const world = await createWorld({
    provider: () => provider,
    accounts: { local: { canList: false } },
  });
  await world.send(requests.createRouter("c1"));
  await world.untilQuiet();
  await world.clock.advance(HOUR_MS);
  return { world, provider };
};

const resolutions = (world: World) =>
  world.bus.published().filter(({ detailType }) => detailType === "CommandResolved");

describe("an operator's resolution of an unknown outcome", () => {
  test("is recorded with its time and published, and the end stays unchanged", async () => {
    const { world } = await unknown();
    const before = await world.command("c1");
    const resolvedAt = world.clock.now();

    const answer = await resolve(world, { applied: true, note: "router-7 is there" });
    await world.untilQuiet();

    expect(answer).toMatchObject({ kind: "resolved", applied: true, note: "router-7 is there" });
    expect(resolutions(world)).toMatchObject([
      {
        metadata: { commandId: "c1", sender: "own", account: "local", correlationId: "c1" },
        data: {
          operation: "create-router",
          params: requests.PLACE,
          lane: LANE,
          applied: true,
          note: "router-7 is there",
        },
      },
    ]);
    const after = await world.command("c1");
    expect(after?.state).toEqual(before?.state);
    expect(after?.resolution).toEqual({ applied: true, note: "router-7 is there", resolvedAt });
    expect(world.publishedTypes("c1")).toEqual([
      "CommandAccepted",
      "CommandFailed",
      "CommandResolved",
    ]);
  });

  test("is published by the poller within a few seconds, without a lag", async () => {
    const { world } = await unknown();

    await resolve(world, { applied: false });
    await world.clock.advance(5_000);
    await world.poll(1);

    expect(resolutions(world)).toHaveLength(1);
    expect(await world.dueEntries()).toEqual([]);
    expect(world.measured.filter(({ name }) => name === "LedgerLag").at(-1)?.value).toBe(0);
  });

  test("given again is the same resolution, published once under one id", async () => {
    const { world } = await unknown();

    const answers = await Promise.all([
      resolve(world, { applied: false, note: "gone" }),
      resolve(world, { applied: false, note: "gone" }),
    ]);
    await world.untilQuiet();
    const later = await resolve(world, { applied: false });
    await world.untilQuiet();

    expect(answers[0]).toMatchObject({ kind: "resolved", applied: false, note: "gone" });
    expect([answers[1], later]).toEqual([answers[0], answers[0]]);
    expect(resolutions(world)).toHaveLength(1);
  });

  test.each([
    ["the opposite", { applied: false }],
    ["the same with another note", { applied: true, note: "another" }],
  ])("is not replaced by %s", async (_what, other) => {
    const { world } = await unknown();
    const first = await resolve(world, { applied: true, note: "seen" });
    await world.untilQuiet();
    const before = await world.ledger.read("command#own/c1");

    const answer = await resolve(world, other);

    expect(answer).toEqual({ ...first, kind: "resolved-otherwise" });
    expect(await world.ledger.read("command#own/c1")).toEqual(before);
  });

  test("leaves the lane to the command that holds it now", async () => {
    const { world, provider } = await unknown();
    provider.answer("POST /cloud/v1/routers/", () => json(200, { tasks: ["t1"] }));
    provider.answer("GET /v1/tasks/t1", () => json(200, { id: "t1", state: "RUNNING" }));
    await world.send(requests.createRouter("holder"));
    await world.send(requests.createRouter("behind"));
    await world.deliver();
    const before = await lanes.read(world.ledger, LANE);

    await resolve(world, { applied: true });
    await world.pass(20_000);

    expect((await lanes.read(world.ledger, LANE))?.value).toMatchObject({
      holder: "own/holder",
      waiting: ["own/behind"],
    });
    expect(before?.value).toMatchObject({ holder: "own/holder", waiting: ["own/behind"] });
    expect(provider.count("POST /cloud/v1/routers/")).toBe(2);
    expect(resolutions(world)).toHaveLength(1);
  });

  test("is neither counted nor measured as an end", async () => {
    const { world } = await unknown();
    const counted = world.counted.filter((name) => name.startsWith("CommandEnded"));

    await resolve(world, { applied: true });
    await world.untilQuiet();

    expect(world.counted.filter((name) => name.startsWith("CommandEnded"))).toEqual(counted);
  });
});

describe("a resolution is refused", () => {
  test("about a command with a known outcome", async () => {
    const world = await createWorld({ provider: startProvider });
    await world.handle(requests.updateEvent("c1", { bucket_name: "no-such" }));
    const before = await world.ledger.read("command#own/c1");

    const answer = await resolve(world, { applied: true });

    expect(answer).toEqual({ kind: "known", status: "failed", reason: "refused" });
    expect(await world.ledger.read("command#own/c1")).toEqual(before);
  });

  test("about a command that has not ended", async () => {
    const world = await createWorld({ provider: startProvider });
    await world.handle(requests.updateContainer("c1"));

    expect(await resolve(world, { applied: true })).toEqual({ kind: "open", status: "following" });
  });

  test("about an unknown command", async () => {
    const world = await createWorld({ provider: startProvider });

    expect(await resolve(world, { applied: true })).toBeUndefined();
  });
});
