import { describe, expect, test } from "vitest";
import { checkCommand } from "../../../lib/engine/advance.ts";
import { backoffMs, pauseAfterWaitMs } from "../../../lib/provider/retrying-client.ts";
import { connectionLost, json, scriptProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

const chance = (fraction: number) => ({ fraction: () => fraction, uuid: () => "" });

describe("the pause before the next attempt", () => {
  test.each([
    [1, 1_000],
    [2, 2_000],
    [6, 32_000],
    [7, 60_000],
    [5_000, 60_000],
  ])("after attempt %i is %i ms at most and half of it at least", (attempt, pause) => {
    expect(backoffMs(attempt, chance(0))).toBe(pause);
    expect(backoffMs(attempt, chance(0.9999999))).toBe(pause / 2);
  });

  test.each([
    [-5_000, 1_000],
    [0, 1_000],
    [60_000, 6_000],
    [600_000, 60_000],
    [6_000_000, 60_000],
  ])("after waiting %i ms without one is %i ms", (waited, pause) => {
    expect(pauseAfterWaitMs(waited, chance(0))).toBe(pause);
  });
});

describe("a pause that the provider asks for", () => {
  /** Asks for a pause of 7 s, once. */
  const throttledOnce = () => {
    let asked = 0;
    return scriptProvider({
      "PATCH ": () => {
        asked += 1;
        return asked === 1 ? json(429, {}, { "retry-after": "7" }) : json(200, { tasks: [] });
      },
    });
  };

  test("is obeyed exactly", async () => {
    const provider = throttledOnce();
    const world = await createWorld({ provider: () => provider });
    await world.send(requests.updateContainer("c1"));

    await world.pass(6_999);
    const before = provider.count("PATCH ");
    await world.pass(2_000);

    expect([before, provider.count("PATCH ")]).toEqual([1, 2]);
  });

  test("is obeyed exactly if the poller's clock is ahead", async () => {
    const provider = throttledOnce();
    const world = await createWorld({ provider: () => provider });
    await world.handle(requests.updateContainer("c1"));
    await world.clock.advance(6_000);
    const { deps } = world.newInvocation();
    const ahead = { ...deps, clock: { ...deps.clock, now: () => world.clock.now() + 2_000 } };
    await checkCommand(ahead, "own/c1");

    await world.deliver();
    const wokenAt = world.wakes.at(-1);
    await world.pass(2_000);

    expect(wokenAt).toBe(Date.UTC(2026, 0, 1) + 7_000);
    expect(provider.count("PATCH ")).toBe(2);
  });

  test("is also obeyed when the message is delivered again", async () => {
    const provider = scriptProvider({ "PATCH ": () => json(429, {}, { "retry-after": "7" }) });
    const world = await createWorld({ provider: () => provider });
    await world.handle(requests.updateContainer("c1"));

    await world.clock.advance(6_999);
    await world.handle(requests.updateContainer("c1"));

    expect(provider.count("PATCH ")).toBe(1);
  });

  test("of zero seconds is still a pause", async () => {
    const provider = scriptProvider({ "PATCH ": () => json(429, {}, { "retry-after": "0" }) });
    const world = await createWorld({ provider: () => provider });

    await world.handle(requests.updateContainer("c1"));

    const state = (await world.command("c1"))?.state;
    expect(state).toMatchObject({ status: "running" });
    expect(state).toHaveProperty("notBefore", expect.closeTo(world.clock.now() + 750, -3));
    expect(state).not.toHaveProperty("notBefore", world.clock.now());
  });

  test("of an enormous length ends the command at its deadline", async () => {
    const provider = scriptProvider({
      "PATCH ": () => connectionLost(),
      "GET ": () => json(429, {}, { "retry-after": "9".repeat(30) }),
    });
    const world = await createWorld({ provider: () => provider });
    await world.send(requests.updatePool("c1"));

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandFailed"]);
  });
});
