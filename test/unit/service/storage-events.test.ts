import { expect, test } from "vitest";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { EVENT, startService } from "./harness.ts";

const EVENTS = "/storage/notifications/v1/events";
const asSecondClient = { headers: { authorization: `apikey ${BUILT_IN_API_KEYS.second}` } };

test("the list is grouped by name, and its entries have no name", async () => {
  const { send } = await startService();

  const list = await send("GET", EVENTS);

  expect(list.status).toBe(200);
  expect(list.body).toEqual({
    reaching_used_space: [
      {
        uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e01",
        storage_name: "my-storage-prod",
        bucket_name: "my-bucket",
        bytes: 500,
      },
    ],
    reaching_used_traffic: [],
    reaching_files_quantity: [
      {
        uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e02",
        storage_name: "my-storage-prod",
        bucket_name: "my-bucket",
        count: 5,
      },
    ],
    reaching_used_requests: [],
  });
});

test("a created event is returned with its uuid and appears in the list", async () => {
  const { send } = await startService();

  const created = await send("POST", EVENT, {
    body: { name: "reaching_used_traffic", storage_name: "my-storage-prod", bytes: 1000 },
  });

  expect(created.status).toBe(200);
  expect(created.body).toEqual({
    name: "reaching_used_traffic",
    storage_name: "my-storage-prod",
    bytes: 1000,
    uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  const { reaching_used_traffic } = (await send("GET", EVENTS)).body;
  expect(reaching_used_traffic).toEqual([
    { storage_name: "my-storage-prod", bytes: 1000, uuid: created.body.uuid },
  ]);
});

test("the service chooses the uuid and ignores one in the request", async () => {
  const { send } = await startService();

  const created = await send("POST", EVENT, {
    body: { name: "reaching_used_requests", uuid: "mine" },
  });

  expect(created.body.uuid).not.toBe("mine");
});

test("creating an event that exists returns 409, and the first one stays", async () => {
  const { send } = await startService();
  const event = { name: "reaching_used_space", storage_name: "s", bucket_name: "b" };
  await send("POST", EVENT, { body: { ...event, bytes: 1 } });

  const second = await send("POST", EVENT, { body: { ...event, bytes: 2 } });

  expect(second.status).toBe(409);
  expect(second.body).toEqual({
    error:
      "an event with this name, storage_name and bucket_name exists already; change it with PUT",
  });
  const { reaching_used_space } = (await send("GET", EVENTS)).body;
  expect(reaching_used_space).toContainEqual(
    expect.objectContaining({ bucket_name: "b", bytes: 1 }),
  );
});

test("events that differ in name, storage or bucket exist side by side", async () => {
  const { send } = await startService();

  const answers = [
    await send("POST", EVENT, { body: { name: "reaching_used_space" } }),
    await send("POST", EVENT, { body: { name: "reaching_used_requests" } }),
    await send("POST", EVENT, { body: { name: "reaching_used_space", storage_name: "x" } }),
    await send("POST", EVENT, { body: { name: "reaching_used_space", bucket_name: "x" } }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

test("an update returns 204 without a body and replaces only the limit", async () => {
  const { send } = await startService();
  const event = {
    name: "reaching_used_space",
    storage_name: "my-storage-prod",
    bucket_name: "my-bucket",
  };

  const updated = await send("PUT", EVENT, { body: { ...event, bytes: 750 } });
  const limited = (await send("GET", EVENTS)).body.reaching_used_space;
  await send("PUT", EVENT, { body: event });
  const unlimited = (await send("GET", EVENTS)).body.reaching_used_space;

  expect([updated.status, updated.body]).toEqual([204, undefined]);
  expect(limited).toMatchObject([{ uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e01", bytes: 750 }]);
  expect(unlimited).toEqual([
    {
      uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e01",
      storage_name: "my-storage-prod",
      bucket_name: "my-bucket",
    },
  ]);
});

test.each([
  ["of none", { name: "reaching_used_requests", count: 1 }],
  ["in another bucket", { name: "reaching_used_space", storage_name: "my-storage-prod", bytes: 1 }],
])("an update %s returns 404 and changes nothing", async (_, body) => {
  const { send, stored } = await startService();
  const before = await stored();

  const refused = await send("PUT", EVENT, { body });

  expect(refused.status).toBe(404);
  expect(refused.body).toEqual({ error: "event not found" });
  expect(await stored()).toEqual(before);
});

test.each([
  ["count", { name: "reaching_used_space", count: 1 }],
  ["bytes", { name: "reaching_files_quantity", bytes: 1 }],
  ["name", { bytes: 1 }],
  ["name", { name: "reaching_the_moon" }],
  ["colour", { name: "reaching_used_space", colour: "red" }],
])("an event that breaks a rule of %s is refused on create and update", async (field, body) => {
  const { send } = await startService();

  const created = await send("POST", EVENT, { body });
  const updated = await send("PUT", EVENT, { body });

  expect([created.status, updated.status]).toEqual([400, 400]);
  expect(created.body.error).toMatch(new RegExp(`^${field}: `));
  expect(updated.body).toEqual(created.body);
});

test("the client_id of the key is the default, and any other client_id returns 404", async () => {
  const { send } = await startService();
  const body = { name: "reaching_used_requests", count: 1 };

  const own = await send("POST", `${EVENT}?client_id=1`, { body });
  const again = await send("POST", EVENT, { body });
  const other = await send("POST", `${EVENT}?client_id=2`, { body });
  const otherUpdate = await send("PUT", `${EVENT}?client_id=2`, { body });

  expect([own.status, again.status]).toEqual([200, 409]);
  expect([other.status, otherUpdate.status]).toEqual([404, 404]);
  expect(other.body).toEqual({ error: "client not found" });
});

test("clients do not see or change each other's events", async () => {
  const { send } = await startService();
  const body = {
    name: "reaching_used_space",
    storage_name: "my-storage-prod",
    bucket_name: "my-bucket",
    bytes: 1,
  };

  const list = await send("GET", EVENTS, asSecondClient);
  const updated = await send("PUT", EVENT, { body, ...asSecondClient });
  const created = await send("POST", EVENT, { body, ...asSecondClient });

  expect(list.body.reaching_used_space).toEqual([]);
  expect([updated.status, created.status]).toEqual([404, 200]);
  expect((await send("GET", EVENTS)).body.reaching_used_space).toHaveLength(1);
});
