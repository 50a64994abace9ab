import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import {
  builtInState,
  FaultTextError,
  type RunningService,
  SeedError,
  type ServiceOptions,
  startService,
} from "../../../lib/exports/service.ts";
import { createExchange } from "../../support/http-exchange.ts";
import { buildProgram } from "../../support/killable-child.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const CONTAINER = "/cloud/v1/caas/1234567/76/containers/my-container";
const POLICY = "/cloud/v1/lifecycle_policy/1234567/76/1";

const started: RunningService[] = [];
afterEach(async () => {
  for (const service of started.splice(0)) await service.stop();
});

const start = async (options: ServiceOptions = {}) => {
  const service = await startService({ taskDurationMs: 10_000, ...options });
  started.push(service);
  const send = createExchange(service.fetch, service.url, service.apiKey);
  return { service, send };
};

describe("startService", () => {
  it("answers over HTTP and in this process, with the key that it returns", async () => {
    const { service, send } = await start();
    const headers = { authorization: `apikey ${service.apiKey}` };

    const overHttp = await fetch(`${service.url}${POLICY}`, { headers });

    expect(overHttp.status).toBe(200);
    expect((await send("GET", POLICY)).body).toEqual(await overHttp.json());
    expect(service.requests.list()).toMatchObject([
      { number: 2, operation: "get-policy", status: 200 },
      { number: 1, operation: "get-policy", status: 200 },
    ]);
  });

  it("takes the given key, port and token of the controls", async () => {
    const first = await start({ apiKey: "my-own-key", controlToken: "my-own-token" });
    const control = createExchange(first.service.fetch, first.service.url, "");
    const headers = { authorization: "Bearer my-own-token" };

    expect((await first.send("GET", POLICY)).status).toBe(200);
    expect(first.service.apiKey).toBe("my-own-key");
    expect((await control("GET", "/_skyhook/clock", { headers })).status).toBe(200);
    await expect(
      startService({ port: Number(new URL(first.service.url).port) }),
    ).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  it("runs side by side with others, each with a state of its own", async () => {
    const [one, other] = [await start(), await start()];

    await one.send("PATCH", POLICY, { body: { name: "only here" } });

    expect((await one.send("GET", POLICY)).body.name).toBe("only here");
    expect((await other.send("GET", POLICY)).body.name).toBe("schedule_1");
  });

  it("ends a task when the time is moved, and at its own time", async () => {
    const clock = createVirtualClock();
    const { service, send } = await start({ clock });
    const { body } = await send("PATCH", CONTAINER, { body: { timeout: 5 } });

    service.clock.freeze();
    await clock.advance(60_000);
    const frozen = await send("GET", `/v1/tasks/${body.tasks[0]}`);
    service.clock.advance(60_000);
    const ended = await send("GET", `/v1/tasks/${body.tasks[0]}`);
    service.clock.resume();

    expect(frozen.body.state).toBe("NEW");
    expect(ended.body).toMatchObject({
      state: "FINISHED",
      finished_on: "2026-01-01T00:00:10.000Z",
    });
    expect(service.clock.now()).toBe(Date.UTC(2026, 0, 1, 0, 1));
  });

  it("makes faults of its options, and of rules that are added and removed", async () => {
    const { service, send } = await start({
      faults: [
        "get-policy=status:1x,code=503",
        { operation: "get-policy", kind: "reset", times: 1 },
      ],
    });
    const status = async () =>
      send("GET", POLICY).then(
        (answer) => answer.status,
        (error) => [error instanceof TypeError, error.message],
      );

    const struck = [await status(), await status(), await status()];
    const id = service.faults.add({ operation: "*", kind: "throttled" });
    const throttled = await status();
    const rules = service.faults.list();
    service.faults.remove(id);

    expect(struck).toEqual([503, [true, expect.any(String)], 200]);
    expect(throttled).toBe(429);
    expect(rules).toMatchObject([
      { struck: 1, left: 0 },
      { struck: 1, left: 0 },
      { id, rule: { kind: "throttled", retryAfter: "1s" }, struck: 1 },
    ]);
    expect(await status()).toBe(200);
    expect(() => service.faults.remove(id)).toThrow("fault not found");
    expect(() => service.faults.add("get-polic=reset")).toThrow("did you mean get-policy?");
  });

  it.each([
    [{ latency: "slow" }, TypeError, "startService: latency: a duration with its unit"],
    [{ taskDurationMs: -1 }, TypeError, "startService: taskDurationMs: at least 0"],
    [{ apiKey: "", requestsPerSecond: 0 }, TypeError, /apiKey: .*requestsPerSecond: /],
    [
      { faults: [{ operation: "get-task", kind: "slow", delay: "soon" }] },
      TypeError,
      "fault: delay: a duration",
    ],
    [{ faults: ["get-task=slow"] }, FaultTextError, "delay"],
  ] as const satisfies readonly (readonly [ServiceOptions, ...unknown[]])[])(
    "refuses the options %j",
    async (options, type, message) => {
      const starting = startService(options);

      await expect(starting).rejects.toThrow(message);
      await expect(starting).rejects.toBeInstanceOf(type);
    },
  );

  it("exports, imports and resets its state", async () => {
    const state = builtInState();
    state.lifecycle_policies = state.lifecycle_policies.map((policy) => ({
      ...policy,
      name: "from the seed",
    }));
    const { service, send } = await start({ seed: state });
    const nameNow = async () => (await send("GET", POLICY)).body.name;
    const first = await service.state.export();
    const names = [await nameNow()];
    await send("PATCH", POLICY, { body: { name: "changed" } });
    const second = await service.state.export();
    names.push(await nameNow());
    await service.state.import(first);
    names.push(await nameNow());
    await service.state.import(second);
    names.push(await nameNow());
    await service.state.reset();
    names.push(await nameNow());

    expect(names).toEqual([
      "from the seed",
      "changed",
      "from the seed",
      "changed",
      "from the seed",
    ]);
    await expect(service.state.import("{}")).rejects.toBeInstanceOf(SeedError);
    await expect(startService({ seed: "[]" })).rejects.toBeInstanceOf(SeedError);
    await expect(startService({ seed: "{" })).rejects.toThrow(
      "invalid state: must be valid JSON: line 1, column 2",
    );
    expectTypeOf(first).toEqualTypeOf(builtInState());
  });

  it("ends delayed requests when it stops", async () => {
    const { service, send } = await start({ latency: "600s" });
    const delayed = expect(send("GET", POLICY)).rejects.toThrow(TypeError);

    await service.stop();

    await delayed;
    await expect(fetch(service.url)).rejects.toThrow();
  });

  it("leaves no handle: a program that stops it ends by itself", async () => {
    const program = await buildProgram("test/unit/exports/stop-program.ts");
    try {
      expect(await program.run([])).toBe(0);
    } finally {
      await program.remove();
    }
  });
});
