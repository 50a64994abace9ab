import { expect, test } from "vitest";
import type { Answer } from "../../support/http-exchange.ts";
import { openTarget, uniqueName } from "./target.ts";

const { call, createEvent, client } = await openTarget();
const EVENT = "/storage/notifications/v1/event";
const MAX_UINT64 = 18_446_744_073_709_551_615n;

const readAll = async (): Promise<Answer["body"]> => (await call("GET", `${EVENT}s`)).body;

test.each([
  ["reaching_used_space", "bytes"],
  ["reaching_files_quantity", "count"],
  ["reaching_used_traffic", "bytes"],
  ["reaching_used_requests", "count"],
])("%s is created with a limit in %s, returned with all fields and listed", async (name, limit) => {
  const event = { name, storage_name: uniqueName("storage"), bucket_name: "media", [limit]: 500 };

  const created = await createEvent(event);

  expect(created.status).toBe(200);
  expect(created.body).toEqual({ ...event, uuid: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  const { name: _, ...entry } = created.body;
  expect((await readAll())[name]).toContainEqual(entry);
});

test("an event needs only a name", async () => {
  const everything = { name: "reaching_used_traffic", bytes: 1, count: 2 };
  const storage_name = uniqueName("storage");

  const bare = await createEvent({ name: "reaching_used_traffic", storage_name });
  const both = await createEvent({ ...everything, storage_name, bucket_name: "media" });

  expect(bare.body).toEqual({
    name: "reaching_used_traffic",
    storage_name,
    uuid: expect.any(String),
  });
  expect(both).toMatchObject({ status: 200, body: everything });
});

test.each([
  ["bytes", "reaching_used_space"],
  ["count", "reaching_files_quantity"],
])("%s of %s is exact from 0 up to 18446744073709551615", async (limit, name) => {
  const create = async (value: number | bigint) =>
    (await createEvent({ name, storage_name: uniqueName("storage"), [limit]: value })).body[limit];

  const exact = [
    await create(0),
    await create(1),
    await create(2n ** 53n + 1n),
    await create(MAX_UINT64 - 1n),
    await create(MAX_UINT64),
  ];

  expect(exact).toEqual([0, 1, 2n ** 53n + 1n, MAX_UINT64 - 1n, MAX_UINT64]);
});

test.each([
  ["bytes", "18446744073709551616"],
  ["count", "18446744073709551616"],
  ["bytes", "-1"],
  ["count", "-1"],
  ["bytes", "0.5"],
  ["bytes", '"500"'],
])("a limit in %s of %s is refused and no event is created", async (limit, value) => {
  const before = await readAll();

  const storage = uniqueName("storage");
  const text = `{"name":"reaching_used_traffic","storage_name":"${storage}","${limit}":${value}}`;
  const refused = await call("POST", EVENT, { text });

  expect(refused.status).toBe(400);
  expect(refused.body).toEqual({ error: expect.stringMatching(new RegExp(`^${limit}: `)) });
  expect(await readAll()).toEqual(before);
});

test("a second event of the same name, storage and bucket returns 409, and the first one stays", async () => {
  const event = { name: "reaching_used_space", storage_name: uniqueName("storage") };
  await createEvent({ ...event, bytes: 1 });
  const before = await readAll();

  const second = await call("POST", EVENT, { body: { ...event, bytes: 2 } });

  expect(second.status).toBe(409);
  expect(second.body).toEqual({ error: expect.any(String) });
  expect(await readAll()).toEqual(before);
});

test.each([
  ["name", { name: "reaching_used_traffic" }],
  ["storage", { storage_name: uniqueName("other") }],
  ["bucket", { bucket_name: "other" }],
])("an event with another %s is a separate event", async (_, other) => {
  const event = { name: "reaching_used_space", storage_name: uniqueName("storage"), bytes: 1 };
  const first = await createEvent(event);

  const second = await createEvent({ ...event, ...other });

  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.body.uuid).not.toBe(first.body.uuid);
});

test.each(["", " ", "ünï/çø∂é 😀", "s".repeat(300), "__proto__", "null"])(
  "any storage name is accepted: %j",
  async (storage_name) => {
    // The storage name may be in use on a shared service, so a unique bucket makes the event unique.
    const bucket_name = uniqueName("bucket");

    const created = await createEvent({ name: "reaching_used_space", storage_name, bucket_name });

    expect(created).toMatchObject({ status: 200, body: { storage_name, bucket_name } });
  },
);

test("the client_id of the key's client is accepted, and any other returns 404", async () => {
  const event = { name: "reaching_used_space", storage_name: uniqueName("storage"), bytes: 1 };
  await createEvent(event);

  const own = await call("POST", `${EVENT}?client_id=${client}`, { body: event });
  const other = await call("POST", `${EVENT}?client_id=${client + 1}`, { body: event });

  // The client has this event already.
  expect([own.status, other.status]).toEqual([409, 404]);
  expect(other.body).toEqual({ error: expect.any(String) });
});

test.each([
  ["name", { bytes: 5 }],
  ["name", { name: null }],
  ["name", { name: "reaching_the_moon" }],
  ["count", { name: "reaching_used_space", count: 5 }],
  ["bytes", { name: "reaching_files_quantity", bytes: 5 }],
  ["bucket_name", { name: "reaching_used_space", bucket_name: 5 }],
  ["limit", { name: "reaching_used_space", limit: 5 }],
  ["body", undefined],
  ["body", []],
])("an event that breaks a rule of %s is refused and not created: %o", async (field, body) => {
  const before = await readAll();

  const refused = await call("POST", EVENT, { body });

  expect(refused.status).toBe(400);
  expect(refused.body).toEqual({ error: expect.stringMatching(new RegExp(`^${field}: `)) });
  expect(await readAll()).toEqual(before);
});
