import { describe, expect, test } from "vitest";
import { readView } from "../../../lib/admin/status.ts";
import { ATTEMPT_LEASE_MS } from "../../../lib/platform/deployment.ts";
import type { Client } from "../../../lib/provider/client.ts";
import { ProviderError } from "../../../lib/provider/provider-error.ts";
import type { Around } from "../../support/faults.ts";
import { createGate } from "../../support/gate.ts";
import { connectionLost, json, scriptProvider, startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { watchedClient } from "../../support/watched-ports.ts";
import { createWorld, type World } from "../../support/world.ts";

const historyOf = async (world: World, id = "c1") =>
  (await readView(world.ledger, `own/${id}`, world.clock.now()))?.history;

/** The rate limit has permits for changes only. */
const unlessRead =
  (client: Client): Client["call"] =>
  (operation, ...rest) =>
    operation.kind === "read"
      ? Promise.reject(
          new ProviderError({
            disposition: "transient",
            code: "budget-spent",
            message: "no permit",
          }),
        )
      : client.call(operation, ...rest);

const startOf = (world: World) => new Date(world.clock.now()).toISOString();

test("an answered attempt has its start and its end", async () => {
  const world = await createWorld({ provider: startProvider });
  const now = startOf(world);

  await world.handle(requests.updatePolicy("c1"));

  expect(await historyOf(world)).toEqual([
    { number: 1, startedAt: now, endedAt: now, disposition: "answered" },
  ]);
});

test("an attempt with tasks counts as answered", async () => {
  const world = await createWorld({ provider: startProvider });

  await world.handle(requests.updateContainer("c1"));

  expect(await historyOf(world)).toMatchObject([{ number: 1, disposition: "answered" }]);
});

test.each([
  [
    "is refused",
    () => json(400, { message: "the name is taken" }),
    {
      disposition: "permanent",
      code: "refused",
      status: 400,
      message: "400 refused: the name is taken",
    },
  ],
  [
    "is throttled",
    () => json(429, { message: "slow\ndown" }, { "retry-after": "7" }),
    {
      disposition: "throttled",
      code: "throttled",
      status: 429,
      message: "429 throttled: slow down",
    },
  ],
  [
    "gets a 502 from a gateway",
    () => new Response("<h1>Bad Gateway</h1>", { status: 502 }),
    {
      disposition: "ambiguous",
      code: "server-error",
      status: 502,
      message: "502 server-error: <h1>Bad Gateway</h1>",
    },
  ],
  [
    "loses its connection",
    () => connectionLost(),
    { disposition: "ambiguous", code: "connection-lost", message: "connection lost (ECONNRESET)" },
  ],
])("an attempt that %s is kept with status and reason", async (_what, answer, kept) => {
  const provider = scriptProvider({ "PATCH ": answer });
  const world = await createWorld({ provider: () => provider });
  const now = startOf(world);

  await world.handle(requests.updatePolicy("c1"));

  expect(await historyOf(world)).toEqual([{ number: 1, startedAt: now, endedAt: now, ...kept }]);
});

test("a success with an unexpected body is an attempt with disposition contract", async () => {
  const provider = scriptProvider({ "PATCH ": () => json(200, { id: "no number" }) });
  const world = await createWorld({ provider: () => provider });

  await world.handle(requests.updatePolicy("c1"));

  expect(await historyOf(world)).toMatchObject([
    {
      disposition: "contract",
      code: "reply-unexpected",
      message: "the reply violates the contract",
    },
  ]);
});

test("the attempt of a dead function is lost", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: startProvider, around: gate.around });
  const sending = gate.hold("fetch PATCH");
  void world.handle(requests.updatePolicy("c1"));
  await sending.reached;
  await world.clock.advance(ATTEMPT_LEASE_MS);

  await world.untilQuiet();

  expect(await historyOf(world)).toMatchObject([
    { number: 1, disposition: "lost" },
    { number: 2, disposition: "answered" },
  ]);
});

test("an attempt is under way until its end is recorded", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: startProvider, around: gate.around });
  const now = startOf(world);
  const sending = gate.hold("fetch PATCH");

  void world.handle(requests.updatePolicy("c1"));
  await sending.reached;

  expect(await historyOf(world)).toEqual([{ number: 1, startedAt: now }]);
});

describe("a refusal that cannot be interpreted", () => {
  const refusedAfterLoss = () => {
    let asked = 0;
    return scriptProvider({
      "POST /cloud/v1/instances/": () => {
        asked += 1;
        return asked === 1 ? connectionLost() : json(400, { message: "not suspended" });
      },
      "GET /cloud/v1/instances/": () => json(503, { message: "away" }),
    });
  };

  test("is kept as a refusal, and the command waits for the lookup", async () => {
    const provider = refusedAfterLoss();
    const world = await createWorld({ provider: () => provider });

    await world.send(requests.resumeInstance("c1"));
    await world.pass(4_000);

    expect((await historyOf(world))?.slice(0, 2)).toMatchObject([
      { disposition: "ambiguous", code: "connection-lost" },
      { disposition: "permanent", code: "refused", status: 400 },
    ]);
    expect((await world.command("c1"))?.state).toMatchObject({ because: "server-error" });
  });

  test("counts as a request that was sent, also where there was no permit for the lookup", async () => {
    const provider = refusedAfterLoss();
    const client = watchedClient((_name, effect) => effect(), provider, createVirtualClock());
    const world = await createWorld({
      provider: () => provider,
      accounts: { local: { client: { call: unlessRead(client) } } },
    });

    await world.send(requests.resumeInstance("c1"));
    await world.pass(10_000);

    expect((await world.command("c1"))?.attemptCount).toBeGreaterThan(1);
    expect((await world.command("c1"))?.attemptCount).toBe(
      provider.count("POST /cloud/v1/instances/"),
    );
  });
});

test("a long answer that echoes secrets is kept short and without them", async () => {
  const token = "hush-0123456789";
  const provider = scriptProvider({
    "PATCH ": () => json(429, { message: `cannot use ${token} ${"x".repeat(400)}` }),
  });
  const world = await createWorld({ provider: () => provider });

  await world.handle(requests.updateContainer("c1", { envs: { TOKEN: token } }));

  const [attempt] = (await historyOf(world)) ?? [];
  expect(attempt?.message).toMatch(/^429 throttled: cannot use \[redacted\] x+…$/);
  expect(attempt?.message).toHaveLength(201);
});

test("a week of attempts can be read completely, and the command's item stays small", async () => {
  const provider = scriptProvider({ "PATCH ": () => json(429, {}, { "retry-after": "60" }) });
  const world = await createWorld({ provider: () => provider });
  const deadline = new Date(world.clock.now() + 3 * 60 * 60_000).toISOString();

  await world.send(requests.updatePolicyWith("c1", { deadline }));
  await world.untilQuiet(4 * 60 * 60_000);

  const history = (await historyOf(world)) ?? [];
  expect(history.length).toBeGreaterThan(120);
  expect(history.length).toBe(provider.count("PATCH "));
  expect(history.map(({ number }) => number)).toEqual(history.map((_, index) => index + 1));
  expect((await world.command("c1"))?.attempts.length).toBeLessThanOrEqual(40);
});

test("no attempt is lost when a crash interrupts the archiving", async () => {
  let cutOff = 0;
  const around: Around = (call, effect) => {
    const isPage = call.name.startsWith("ledger.write attempts#");
    if (!isPage || cutOff > 0) return effect();
    cutOff += 1;
    return Promise.reject(new Error("cut off"));
  };
  const provider = scriptProvider({ "PATCH ": () => json(409, {}) });
  const world = await createWorld({ provider: () => provider, around });
  await world.send(requests.updateContainer("c1"));

  await world.pass(20 * 60_000);

  const numbers = (await historyOf(world))?.map(({ number }) => number) ?? [];
  expect(cutOff).toBe(1);
  expect(numbers.length).toBeGreaterThan(41);
  expect(numbers).toEqual(Array.from(numbers, (_, index) => index + 1));
});
