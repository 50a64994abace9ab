import { expect, test } from "vitest";
import { openTarget, UNKNOWN_ID, uniqueName } from "./target.ts";

const { call, createEvent, client } = await openTarget();
const EVENT = "/storage/notifications/v1/event";
const MAX_UINT64 = 18_446_744_073_709_551_615n;

interface Listed {
  readonly storage_name: string;
  readonly bucket_name?: string;
}

/** The listed events of one name and storage. */
const listed = async (name: string, storage: string) => {
  const events: Listed[] = (await call("GET", `${EVENT}s`)).body[name];
  return events.filter(({ storage_name }) => storage_name === storage);
};

test("an update returns 204 without a body and replaces the limit", async () => {
  const event = { name: "reaching_used_space", storage_name: uniqueName("storage") };
  const created = await createEvent({ ...event, bucket_name: "media", bytes: 500 });

  const updated = await call("PUT", EVENT, {
    body: { ...event, bucket_name: "media", bytes: 501 },
  });

  expect(updated).toMatchObject({ status: 204, body: undefined });
  const { name, ...entry } = created.body;
  expect(await listed(event.name, event.storage_name)).toEqual([{ ...entry, bytes: 501 }]);
});

test.each([
  ["bytes", "reaching_used_space"],
  ["count", "reaching_files_quantity"],
  ["bytes", "reaching_used_traffic"],
  ["count", "reaching_used_requests"],
])("%s of %s is exact from 0 up to 18446744073709551615", async (limit, name) => {
  const event = { name, storage_name: uniqueName("storage") };
  await createEvent({ ...event, [limit]: 7 });
  const exact: unknown[] = [];

  for (const value of [0, 1, 2n ** 53n + 1n, MAX_UINT64 - 1n, MAX_UINT64]) {
    await call("PUT", EVENT, { body: { ...event, [limit]: value } });
    exact.push(...(await listed(name, event.storage_name)).map((one) => Reflect.get(one, limit)));
  }

  expect(exact).toEqual([0, 1, 2n ** 53n + 1n, MAX_UINT64 - 1n, MAX_UINT64]);
});

test.each([
  ["bytes", "18446744073709551616"],
  ["count", "18446744073709551616"],
  ["bytes", "-1"],
  ["bytes", "1.5"],
  ["bytes", '"500"'],
])("the limit %s of %s is refused and the event keeps its own", async (limit, value) => {
  const event = { name: "reaching_used_traffic", storage_name: uniqueName("storage") };
  await createEvent({ ...event, bytes: 500 });
  const before = await listed(event.name, event.storage_name);

  const text = `{"name":"${event.name}","storage_name":"${event.storage_name}","${limit}":${value}}`;
  const refused = await call("PUT", EVENT, { text });

  expect(refused.status).toBe(400);
  expect(refused.body).toEqual({ error: expect.stringMatching(new RegExp(`^${limit}: `)) });
  expect(before).toHaveLength(1);
  expect(await listed(event.name, event.storage_name)).toEqual(before);
});

test("only the event with the given name, storage and bucket is updated", async () => {
  const event = { name: "reaching_used_space", storage_name: uniqueName("storage") };
  await createEvent({ ...event, bytes: 1 });
  await createEvent({ ...event, bucket_name: "media", bytes: 2 });

  await call("PUT", EVENT, { body: { ...event, bytes: 10 } });

  const after = await listed(event.name, event.storage_name);
  expect(after).toHaveLength(2);
  expect(after).toContainEqual(expect.objectContaining({ bucket_name: "media", bytes: 2 }));
  expect(after).toContainEqual(expect.objectContaining({ bytes: 10 }));
});

test("client_id of the key's own client identifies the same event", async () => {
  const event = { name: "reaching_used_space", storage_name: uniqueName("storage") };
  await createEvent({ ...event, bytes: 1 });

  const updated = await call("PUT", `${EVENT}?client_id=${client}`, {
    body: { ...event, bytes: 2 },
  });

  expect(updated.status).toBe(204);
  expect(await listed(event.name, event.storage_name)).toMatchObject([{ bytes: 2 }]);
});

test("name, storage and bucket identify an event; a uuid in the request has no effect", async () => {
  const event = { name: "reaching_used_space", storage_name: uniqueName("storage") };
  const { uuid } = (await createEvent({ ...event, bytes: 1 })).body;

  const updated = await call("PUT", EVENT, { body: { ...event, bytes: 3, uuid: UNKNOWN_ID } });

  expect(updated.status).toBe(204);
  expect(await listed(event.name, event.storage_name)).toMatchObject([{ uuid, bytes: 3 }]);
});

test.each([
  ["storage", {}, { storage_name: uniqueName("nowhere") }, ""],
  ["bucket", {}, { bucket_name: "no-such-bucket" }, ""],
  ["name", {}, { name: "reaching_used_traffic" }, ""],
  ["client", {}, {}, `?client_id=${client + 1}`],
])("an update with another %s returns 404 and creates no event", async (_, __, other, query) => {
  const event = { name: "reaching_used_space", storage_name: uniqueName("storage"), bytes: 1 };
  await createEvent(event);
  const before = (await call("GET", `${EVENT}s`)).body;

  const answer = await call("PUT", `${EVENT}${query}`, { body: { ...event, ...other } });

  expect(answer.status).toBe(404);
  expect(answer.body).toEqual({ error: expect.any(String) });
  expect((await call("GET", `${EVENT}s`)).body).toEqual(before);
});

test.each([
  ["name", { bytes: 5 }],
  ["name", { name: "reaching_the_moon" }],
  ["count", { name: "reaching_used_space", count: 5 }],
  ["bytes", { name: "reaching_files_quantity", bytes: 5 }],
  ["storage_name", { name: "reaching_used_space", storage_name: 5 }],
  ["limit", { name: "reaching_used_space", limit: 5 }],
  ["body", undefined],
])("an update that breaks a rule of %s is refused: %o", async (field, body) => {
  const refused = await call("PUT", EVENT, { body });

  expect(refused.status).toBe(400);
  expect(refused.body).toEqual({ error: expect.stringMatching(new RegExp(`^${field}: `)) });
});

test.each(["client_id=x", "client_id=1.5", "client=1"])(
  "the query %s is refused",
  async (query) => {
    const body = { name: "reaching_used_space", storage_name: uniqueName("storage"), bytes: 1 };

    const refused = await call("PUT", `${EVENT}?${query}`, { body });

    expect(refused.status).toBe(400);
    expect(refused.body.error.split(":")[0]).toBe(query.split("=")[0]);
  },
);
