import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { openLevelStore } from "../../../lib/service/store.ts";
import { EVENT, startService } from "./harness.ts";

const EVENTS = "/storage/notifications/v1/events";
const asSecondClient = { headers: { authorization: `apikey ${BUILT_IN_API_KEYS.second}` } };

const EXISTING = {
  name: "reaching_used_space",
  storage_name: "my-storage-prod",
  bucket_name: "my-bucket",
};

test("a deletion returns 204 without a body, and the event no longer exists", async () => {
  const { send, stored } = await startService();
  const before = Object.keys(await stored());

  const deleted = await send("DELETE", EVENT, { body: { ...EXISTING, bytes: 1 } });

  expect([deleted.status, deleted.body]).toEqual([204, undefined]);
  const { reaching_used_space, reaching_files_quantity } = (await send("GET", EVENTS)).body;
  expect(reaching_used_space).toEqual([]);
  expect(reaching_files_quantity).toHaveLength(1);
  const after = new Set(Object.keys(await stored()));
  expect(before.filter((key) => !after.has(key))).toEqual([
    'storage_events/[1,"reaching_used_space","my-storage-prod","my-bucket"]',
  ]);
});

test("a deleted event can be created again with another uuid, and a deletion ignores the uuid", async () => {
  const { send } = await startService();
  const first = { body: { ...EXISTING, uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e01" } };
  await send("DELETE", `${EVENT}?client_id=1`, first);

  const created = await send("POST", EVENT, { body: EXISTING });
  const deleted = await send("DELETE", EVENT, first);
  const again = await send("DELETE", EVENT, { body: created.body });

  expect(created.status).toBe(200);
  expect(created.body.uuid).not.toBe(first.body.uuid);
  expect([deleted.status, again.status]).toEqual([204, 404]);
});

test.each([
  ["of no storage", EVENT, { ...EXISTING, storage_name: undefined }, 404, "event not found"],
  ["in another bucket", EVENT, { ...EXISTING, bucket_name: "b" }, 404, "event not found"],
  [
    "of another name",
    EVENT,
    { ...EXISTING, name: "reaching_used_traffic" },
    404,
    "event not found",
  ],
  ["of another client", `${EVENT}?client_id=2`, EXISTING, 404, "client not found"],
  [
    "with the limit of another name",
    EVENT,
    { ...EXISTING, count: 1 },
    400,
    "count: not allowed with reaching_used_space; use bytes",
  ],
  ["without a name", EVENT, { storage_name: "my-storage-prod" }, 400, "name: required"],
  ["without a body", EVENT, undefined, 400, "body: required"],
])("a deletion %s is refused and changes nothing", async (_, path, body, status, error) => {
  const { send, stored } = await startService();
  const before = await stored();

  const refused = await send("DELETE", path, body && { body });

  expect(refused.status).toBe(status);
  expect(refused.body).toEqual({ error });
  expect(await stored()).toEqual(before);
});

test("a deletion on disk survives a restart", async () => {
  const directory = await mkdtemp(join(tmpdir(), "skyhook-service-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const store = await openLevelStore(directory);
  const first = await startService({ store });
  await first.send("DELETE", EVENT, { body: EXISTING });
  await store.close();
  const reopened = await openLevelStore(directory);

  const second = await startService({ store: reopened });
  const { body } = await second.send("GET", EVENTS);
  await reopened.close();

  expect(body.reaching_used_space).toEqual([]);
  expect(body.reaching_files_quantity).toHaveLength(1);
});

test("a client cannot delete an event of another client", async () => {
  const { send, stored } = await startService();
  const before = await stored();

  const refused = await send("DELETE", EVENT, { body: EXISTING, ...asSecondClient });

  expect(refused.status).toBe(404);
  expect(await stored()).toEqual(before);
});

test("the event types are the four names with target fields and limit", async () => {
  const { send } = await startService();
  const fieldsWith = (limit: string) => [
    { name: "storage_name", type: "text" },
    { name: "bucket_name", type: "text" },
    { name: limit, type: "number" },
  ];

  const types = await send("GET", `${EVENTS}/configurator`);

  expect(types.status).toBe(200);
  expect(types.body).toEqual({
    structure: [
      { name: "reaching_used_space", fields: fieldsWith("bytes") },
      { name: "reaching_files_quantity", fields: fieldsWith("count") },
      { name: "reaching_used_traffic", fields: fieldsWith("bytes") },
      { name: "reaching_used_requests", fields: fieldsWith("count") },
    ],
  });
});
