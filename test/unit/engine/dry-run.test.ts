import { expect, test } from "vitest";
import { startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const PLACE = "1234567/76";

const dryRun = async (request: ReturnType<typeof requests.requestOf>) => {
  const calls: string[] = [];
  const world = await createWorld({
    provider: startProvider,
    around: (call, effect) => {
      calls.push(call.name);
      return effect();
    },
  });
  await world.handle({ ...request, data: { ...request.data, dryRun: true } });
  return { world, requests: calls.filter((name) => name.startsWith("fetch ")) };
};

const endOf = (world: World) => world.bus.published().at(-1)!;

test.each([
  [
    "a path",
    requests.resumeInstance("c1"),
    {
      method: "POST",
      path: `/cloud/v1/instances/${PLACE}/6c6aa80f-7836-4dc2-a2ae-125e248be476/resume`,
    },
  ],
  [
    "a query",
    requests.updateEvent("c1", {}, { query: { client_id: 7 } }),
    {
      method: "PUT",
      path: "/storage/notifications/v1/event?client_id=7",
      body: { name: "reaching_used_space", storage_name: "s", bucket_name: "b", bytes: "700" },
    },
  ],
  [
    "a 64-bit number, exactly",
    requests.createEvent("c1", { bytes: "18446744073709551615" }),
    {
      method: "POST",
      path: "/storage/notifications/v1/event",
      body: {
        name: "reaching_used_space",
        storage_name: "s",
        bucket_name: "b",
        bytes: "18446744073709551615",
      },
    },
  ],
  [
    "no secret value",
    requests.updateContainer("c1", { envs: { TOKEN: "hush" }, pull_secret: "hush-too" }),
    {
      method: "PATCH",
      path: `/cloud/v1/caas/${PLACE}/containers/my-container`,
      body: { description: "c1", envs: "[redacted]", pull_secret: "[redacted]" },
    },
  ],
])("publishes %s and sends nothing", async (_what, request, wouldSend) => {
  const { world, requests: sent } = await dryRun(request);

  const { detailType, data } = endOf(world);
  expect([detailType, data.outcome, data.dryRun]).toEqual(["CommandSucceeded", "dry-run", true]);
  expect(data.wouldSend).toEqual(wouldSend);
  expect(sent).toEqual([]);
  expect(JSON.stringify(world.bus.published())).not.toContain("hush");
  expect(await world.dueEntries()).toEqual([]);
});

test("leaves out a body that is larger than an event has room for", async () => {
  // 65 kB in UTF-8, a third of that in characters.
  const commands = "中".repeat(21_600);
  const { world } = await dryRun(requests.updateContainer("c1", { commands }));

  expect(endOf(world).data.wouldSend).toEqual({
    method: "PATCH",
    path: `/cloud/v1/caas/${PLACE}/containers/my-container`,
  });
});

test("is cancelled by a guard like any other command", async () => {
  const network = { ...requests.PLACE, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" };
  const guards = [{ network, key: "cost-center", equals: "games" }];

  const { world, requests: sent } = await dryRun(requests.resumeInstance("c1", { guards }));

  expect(endOf(world).data).toMatchObject({ reason: "guard", dryRun: true });
  expect(sent).toEqual([
    `fetch GET /cloud/v1/networks/${PLACE}/b39792c3-3160-4356-912e-ba396c95cdcf/metadata_item`,
  ]);
});

test("is authorised and validated like any other command", async () => {
  const { world } = await dryRun(requests.updateContainer("c1", { timeout: 181 }));
  const { world: other } = await dryRun(requests.resumeInstance("c1", { account: "nobody" }));

  expect(endOf(world).data).toMatchObject({ reason: "invalid" });
  expect(endOf(other).data).toMatchObject({ reason: "not-allowed" });
});

test("the same id without dryRun is another payload", async () => {
  const { world } = await dryRun(requests.resumeInstance("c1"));

  await world.handle(requests.resumeInstance("c1"));

  expect(endOf(world).data).toMatchObject({ reason: "id-reused" });
});
