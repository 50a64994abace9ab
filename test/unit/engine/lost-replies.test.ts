import { describe, expect, test } from "vitest";
import { createLossyWorld, LOSSES, type Loss } from "../../support/lost-replies.ts";
import { connectionLost, json, scriptProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

const AFTER: Loss = "the connection breaks after the effect";
const endOf = (world: Awaited<ReturnType<typeof createWorld>>) => world.bus.published().at(-1)!;

describe.each(LOSSES)("when %s", (loss) => {
  test("an update of a container is sent again", async () => {
    const { world, records } = await createLossyWorld([loss]);

    await world.send(requests.updateContainer("c1"));
    await world.untilQuiet();

    expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
    expect(endOf(world).data.lostReplies).toBe(1);
    expect((await records("containers"))[0].description).toBe("c1");
  });

  test("an instance is resumed, and a refusal because it is active is a success", async () => {
    const { world, records } = await createLossyWorld([loss]);

    await world.send(requests.resumeInstance("c1"));
    await world.untilQuiet();

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "CommandSucceeded"]);
    const instances = await records("instances");
    const resumed = instances.find(({ id }) => id === requests.SUSPENDED_INSTANCE);
    expect(resumed.vm_state).toBe("active");
  });

  test.each([
    [
      "removing volumes from a policy",
      requests.removeVolumes("c1", ["3ed9e2ce-f906-47fb-ba32-c25a3f63df4f"]),
    ],
    ["an update of a policy", requests.updatePolicy("c1")],
    [
      "an update of a storage event",
      requests.updateEvent("c1", { storage_name: "my-storage-prod", bucket_name: "my-bucket" }),
    ],
    ["the creation of a storage event", requests.createEvent("c1")],
    ["an update of a pool", requests.updatePool("c1")],
  ])("%s still succeeds", async (_what, request) => {
    const { world } = await createLossyWorld([loss]);

    await world.send(request);
    await world.untilQuiet();

    expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
    expect(endOf(world).data.lostReplies).toBeLessThanOrEqual(1);
  });
});

test("an update of a pool that the lost request made ends as done, not as no-op", async () => {
  const { world } = await createLossyWorld([AFTER]);

  await world.send(requests.updatePool("c1"));
  await world.untilQuiet();

  expect(endOf(world).data).toMatchObject({ outcome: "done", lostReplies: 1, attempts: 2 });
});

test("an update of a pool is not sent again while a task holds the pool", async () => {
  const { world, sent } = await createLossyWorld([AFTER]);
  await world.send(requests.updatePool("c1"));
  await world.deliver();

  // The lost task ends after 10 s; until then the poller and the queue find the pool locked.
  await world.pass(9_000);
  expect(sent()).toBe(1);
  await world.untilQuiet();

  expect(sent()).toBe(2);
  expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
});

describe("a resumption that is refused after a lost reply", () => {
  const lostOnce = (instance: () => Response) => {
    let asked = 0;
    return scriptProvider({
      "POST /cloud/v1/instances/": () => {
        asked += 1;
        return asked === 1 ? connectionLost() : json(400, { message: "not suspended" });
      },
      "GET /cloud/v1/instances/": instance,
    });
  };

  test("fails when the instance is not active", async () => {
    const stopped = { vm_state: "stopped", status: "SHUTOFF" };
    const { world: sample, service } = await createLossyWorld([]);
    const path = `/cloud/v1/instances/1234567/76/${requests.SUSPENDED_INSTANCE}`;
    const headers = { authorization: `apikey ${sample.provider.apiKey}` };
    const known = await (await service(new Request(`http://p${path}`, { headers }))).json();
    const provider = lostOnce(() => json(200, { ...Object(known), ...stopped }));
    const world = await createWorld({ provider: () => provider });

    await world.send(requests.resumeInstance("c1"));
    await world.untilQuiet();

    expect(endOf(world).data).toMatchObject({ reason: "refused", lostReplies: 1 });
  });

  test("is looked up again when the instance cannot be read, and ends with an unknown outcome", async () => {
    const provider = lostOnce(() => json(503, {}));
    const world = await createWorld({ provider: () => provider });

    await world.send(requests.resumeInstance("c1"));
    await world.untilQuiet();

    expect(endOf(world).data).toMatchObject({ reason: "unknown-outcome", durationMs: 7_200_000 });
  });
});

test("a resumption that is refused at the first send fails", async () => {
  const provider = scriptProvider({ "POST ": () => json(400, { message: "not suspended" }) });
  const world = await createWorld({ provider: () => provider });

  await world.send(requests.resumeInstance("c1"));
  await world.untilQuiet();

  expect(endOf(world).data).toMatchObject({ reason: "refused", lostReplies: 0 });
  expect(provider.count("GET ")).toBe(0);
});

describe("the creation of a storage event that already exists", () => {
  const existing = (bytes: string) => ({
    reaching_used_space: [{ storage_name: "s", bucket_name: "b", bytes: Number(bytes) }],
  });
  const conflict = (lostFirst: boolean, list: object) => {
    let asked = 0;
    return scriptProvider({
      "POST ": () => {
        asked += 1;
        return lostFirst && asked === 1 ? connectionLost() : json(409, { error: "exists" });
      },
      "GET /storage/notifications/v1/events": () => json(200, list),
    });
  };

  test.each([
    [
      "succeeds when an earlier send was lost and the event is equal",
      "700",
      {},
      {},
      "CommandSucceeded",
      undefined,
    ],
    [
      "fails when an earlier send was lost and the event differs",
      "701",
      {},
      {},
      "CommandFailed",
      "refused",
    ],
    [
      "is unknown when it is another client's",
      "700",
      { query: { client_id: 7 } },
      {},
      "CommandFailed",
      "unknown-outcome",
    ],
    [
      "is unknown when the account has no list",
      "700",
      {},
      { canList: false },
      "CommandFailed",
      "unknown-outcome",
    ],
  ])("%s", async (_what, bytes, data, account, end, reason) => {
    const provider = conflict(true, existing(bytes));
    const world = await createWorld({ provider: () => provider, accounts: { local: account } });

    await world.send(requests.createEvent("c1", {}, data));
    await world.untilQuiet();

    expect(endOf(world)).toMatchObject({ detailType: end, data: { lostReplies: 1 } });
    expect(endOf(world).data.reason).toBe(reason);
  });

  test.each([
    ["equal", "12", "CommandSucceeded"],
    ["different", "13", "CommandFailed"],
  ])("is compared by its count too: %s", async (_what, count, end) => {
    const name = "reaching_files_quantity";
    const listed = { storage_name: "s", bucket_name: "b", count: 12 };
    const provider = conflict(true, { [name]: [listed] });
    const world = await createWorld({ provider: () => provider });

    await world.send(requests.createEvent("c1", { name, bytes: undefined, count }));
    await world.untilQuiet();

    expect(endOf(world).detailType).toBe(end);
  });

  test("fails when no send was lost, equal or not", async () => {
    const provider = conflict(false, existing("700"));
    const world = await createWorld({ provider: () => provider });

    await world.send(requests.createEvent("c1"));
    await world.untilQuiet();

    expect(endOf(world).data).toMatchObject({ reason: "refused", attempts: 1 });
  });
});

test("requests without an answer are repeated until the deadline, and the outcome stays unknown", async () => {
  const provider = scriptProvider({ "PATCH ": () => connectionLost() });
  const world = await createWorld({ provider: () => provider });

  await world.send(requests.updatePolicy("c1"));
  await world.untilQuiet();

  expect(endOf(world).data).toMatchObject({ reason: "unknown-outcome", durationMs: 7_200_000 });
  expect(endOf(world).data.lostReplies).toBe(endOf(world).data.attempts);
});

test("a provider that cannot be reached fails the command at the deadline, with reason deadline", async () => {
  const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const provider = scriptProvider({
    "PATCH ": () => new TypeError("fetch failed", { cause: refused }),
  });
  const world = await createWorld({ provider: () => provider });

  await world.send(requests.updatePolicy("c1"));
  await world.untilQuiet();

  expect(endOf(world).data).toMatchObject({ reason: "deadline", lostReplies: 0 });
  expect(endOf(world).data.problems[0].rule).toMatch(/the last one failed with connection-failed$/);
});

test("a locked resource is tried again every 10 seconds until the deadline", async () => {
  const provider = scriptProvider({ "PATCH ": () => json(409, { message: "locked" }) });
  const world = await createWorld({ provider: () => provider });
  const deadline = new Date(world.clock.now() + 60_000).toISOString();

  await world.send(requests.updateContainer("c1", {}, { deadline }));
  await world.pass(62_000);

  expect(endOf(world).data).toMatchObject({ reason: "deadline", attempts: 6, lostReplies: 0 });
});

test("a pause longer than the time left ends the command at its deadline, not after", async () => {
  let asked = 0;
  const provider = scriptProvider({
    "PATCH ": () => {
      asked += 1;
      return connectionLost();
    },
    "GET /cloud/v1/lbpools/": () => json(429, {}, { "retry-after": "86400" }),
  });
  const world = await createWorld({ provider: () => provider });

  await world.send(requests.updatePool("c1"));
  await world.untilQuiet();

  expect(endOf(world).data.durationMs).toBeLessThanOrEqual(7_260_000);
  expect(asked).toBe(1);
});
