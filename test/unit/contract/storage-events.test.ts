import { describe, expect, test } from "vitest";
import {
  createStorageEvent,
  deleteStorageEvent,
  listStorageEvents,
  listStorageEventTypes,
  storageEventListSchema,
  storageEventSchema,
  updateStorageEvent,
} from "../../../lib/contract/storage-events.ts";
import { accepted, bothWays, received, refused, written } from "./both-ways.ts";

const WIRE_RULE = "a whole number from 0 to 18446744073709551615";
const DECIMAL_RULE =
  "a whole number from 0 to 18446744073709551615, as a decimal string (or a number up to 9007199254740991, the largest that JSON parsers keep exact)";
const NAMES =
  "reaching_used_space, reaching_files_quantity, reaching_used_traffic, reaching_used_requests";

const INT64_RULE = "a whole number from -9223372036854775808 to 9223372036854775807";

const MUTATIONS = [createStorageEvent, updateStorageEvent, deleteStorageEvent];
const byId = MUTATIONS.map((operation) => [operation.id, operation] as const);

describe.each([
  { field: "bytes", name: "reaching_used_space" },
  { field: "bytes", name: "reaching_used_traffic" },
  { field: "bytes", name: "reaching_used_requests" },
  { field: "count", name: "reaching_files_quantity" },
  { field: "count", name: "reaching_used_requests" },
  { field: "count", name: "reaching_used_traffic" },
])("$field of $name", ({ field, name }) => {
  test.each([
    { decimal: "0", wire: 0n },
    { decimal: "1", wire: 1n },
    { decimal: "9007199254740991", wire: 9007199254740991n },
    { decimal: "9007199254740992", wire: 9007199254740992n },
    { decimal: "9007199254740993", wire: 9007199254740993n },
    { decimal: "18446744073709551615", wire: 18446744073709551615n },
  ])("keeps $decimal exact", ({ decimal, wire }) => {
    expect(written(storageEventSchema(), { name, [field]: decimal })).toEqual({
      name,
      [field]: wire,
    });
    expect(received(storageEventSchema(), `{"name":"${name}","${field}":${decimal}}`)).toEqual({
      name,
      [field]: decimal,
    });
  });

  test.each([
    "18446744073709551616",
    "99999999999999999999999999",
    "-1",
    "1.5",
    "1e3",
    "01",
    "0x10",
    "+1",
    " 1",
    "1\n",
    "1_000",
    "",
    "lots",
    "٣",
    -1,
    0.5,
    9007199254740992,
    1e300,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true,
    null,
    [],
    ["5"],
    5n,
  ])("refuses a sender's %s and never rounds it", (value) => {
    expect(written(storageEventSchema(), { name, [field]: value })).toEqual([
      `${field}: ${DECIMAL_RULE}`,
    ]);
  });

  test.each([
    "18446744073709551616",
    "-1",
    "-9007199254740993",
    "0.5",
    "1e300",
    "1e400",
    "18446744073709551615.5",
    "1e20",
    "18446744073709551616.0",
    '"5"',
    "null",
    "true",
    "[5]",
  ])("refuses %s from the wire and never rounds it", (json) => {
    expect(received(storageEventSchema(), `{"name":"${name}","${field}":${json}}`)).toEqual([
      `${field}: ${WIRE_RULE}`,
    ]);
  });

  test("accepts an exact number from a sender", () => {
    expect(written(storageEventSchema(), { name, [field]: 9007199254740991 })).toEqual({
      name,
      [field]: 9007199254740991n,
    });
    expect(written(storageEventSchema(), { name, [field]: -0 })).toEqual({ name, [field]: 0n });
  });
});

test.each([
  [
    { name: "reaching_used_space", count: 1 },
    "count: not allowed with reaching_used_space; use bytes",
  ],
  [
    { name: "reaching_used_space", bytes: 1, count: 1 },
    "count: not allowed with reaching_used_space; use bytes",
  ],
  [
    { name: "reaching_files_quantity", bytes: 1 },
    "bytes: not allowed with reaching_files_quantity; use count",
  ],
])("%j is refused, because the limit belongs to another name", (event, problem) => {
  expect(bothWays(storageEventSchema(), event)).toEqual(refused(problem));
});

test.each([
  { name: "reaching_used_space" },
  { name: "reaching_used_requests", bucket_name: "", storage_name: "", uuid: "" },
  { name: "reaching_used_traffic", bucket_name: "b", storage_name: "1-s", uuid: "not a uuid" },
])("%j is accepted", (event) => {
  expect(bothWays(storageEventSchema(), event)).toEqual(accepted(event));
});

test.each([
  [{}, "name: required"],
  [{ name: null }, `name: one of ${NAMES}`],
  [{ name: "reaching_the_moon" }, `name: one of ${NAMES}`],
  [{ name: "reaching_used_space", limit: 5 }, "limit: unknown field"],
  [{ name: "reaching_used_space", bucket_name: null }, "bucket_name: a string, not null"],
  [{ name: "reaching_used_space", storage_name: null }, "storage_name: a string, not null"],
  [{ name: "reaching_used_space", uuid: null }, "uuid: a string, not null"],
  [
    { name: "reaching_used_space", storage_name: "\ud800" },
    "storage_name: must be well-formed Unicode",
  ],
  [
    { name: "reaching_used_space", bucket_name: "\udfff" },
    "bucket_name: must be well-formed Unicode",
  ],
])("%j is refused: %s", (event, problem) => {
  expect(bothWays(storageEventSchema(), event)).toEqual(refused(problem));
});

test("the problems of an event include its name, both limits and the unknown field", () => {
  const event = { name: "nothing", bytes: "1.5", count: -1, colour: "red" };

  expect(written(storageEventSchema(), event)).toEqual([
    `name: one of ${NAMES}`,
    `bytes: ${DECIMAL_RULE}`,
    `count: ${DECIMAL_RULE}`,
    "colour: unknown field",
  ]);
});

test.each(byId)("%s takes an optional client id in the query", (_, { query }) => {
  expect(bothWays(query, {})).toEqual(accepted({}));
  for (const client_id of [0, 9007199254740991]) {
    expect(bothWays(query, { client_id })).toEqual(accepted({ client_id }));
  }
  for (const client_id of [2n ** 63n - 1n, -(2n ** 63n)]) {
    expect(written(query, { client_id })).toEqual({ client_id });
  }
  for (const client_id of [null, 1.5, "1"]) {
    expect(bothWays(query, { client_id })).toEqual(refused(`client_id: ${INT64_RULE}`));
  }
  expect(written(query, { client_id: 2n ** 63n })).toEqual([
    "client_id: at most 9223372036854775807",
  ]);
  expect(written(query, { client_id: -(2n ** 63n) - 1n })).toEqual([
    "client_id: at least -9223372036854775808",
  ]);
  expect(bothWays(query, { client: 1 })).toEqual(refused("client: unknown field"));
});

test.each(byId)("%s takes its event in the body", (_, { body }) => {
  const event = { name: "reaching_used_requests", storage_name: "s", bucket_name: "b" };

  expect(bothWays(body, event)).toEqual(accepted(event));
  expect(bothWays(body, { name: "reaching_used_space", count: 1 })).toEqual(
    refused("count: not allowed with reaching_used_space; use bytes"),
  );
  expect(written(body, undefined)).toEqual([": required"]);
});

test.each([updateStorageEvent, deleteStorageEvent])(
  "$id replies without a body",
  ({ response }) => {
    expect(written(response, undefined)).toBeUndefined();
    expect(received(response, "{}")).toEqual([": this operation takes no body"]);
  },
);

test("the reply to create-storage-event is the event", () => {
  const json = '{"name":"reaching_used_space","bytes":18446744073709551615,"uuid":"u","owner":5}';

  expect(received(createStorageEvent.response, json)).toEqual({
    name: "reaching_used_space",
    bytes: "18446744073709551615",
    uuid: "u",
    owner: 5,
  });
});

test("the list of events keeps limits exact and accepts absent, null and empty groups", () => {
  const json =
    '{"reaching_used_space":[{"uuid":"u","storage_name":null,"bytes":9007199254740993}],"reaching_used_traffic":null,"reaching_files_quantity":[]}';

  expect(received(storageEventListSchema(), json)).toEqual({
    reaching_used_space: [{ uuid: "u", storage_name: null, bytes: "9007199254740993" }],
    reaching_used_traffic: null,
    reaching_files_quantity: [],
  });
});

test.each(["{}", '{"reaching_the_moon":[]}', '{"reaching_used_space":null,"page":1}'])(
  "%s is an empty list of events",
  (json) => {
    expect(received(storageEventListSchema(), json)).toEqual(JSON.parse(json));
  },
);

test("another object does not count as an empty list of events", () => {
  expect(received(storageEventListSchema(), '{"ok":true}')).toEqual([
    ": an object with lists of events by name",
  ]);
});

test.each([listStorageEvents, listStorageEventTypes])(
  "$id takes no parameters, no query and no body",
  (list) => {
    expect(bothWays(list.query, { client_id: 1 })).toEqual(refused("client_id: unknown field"));
    expect(bothWays(list.body, {})).toEqual(refused(": this operation takes no body"));
  },
);

const readTypes = (reply: unknown) =>
  received(listStorageEventTypes.response, JSON.stringify(reply));

test.each<object>([
  { structure: [] },
  { structure: [{ name: "reaching_used_space", fields: [{ name: "bytes", type: "number" }] }] },
  { structure: [{ name: "reaching_the_moon", fields: [{ name: "m", type: "miles", unit: 1 }] }] },
])("the event types %j parse unchanged", (reply) => {
  expect(readTypes(reply)).toEqual(reply);
});

test.each([
  ["structure: a list, not null", { structure: null }],
  ["structure.0.name: required", { structure: [{ fields: [] }] }],
  ["structure.0.fields: required", { structure: [{ name: "n" }] }],
  ["structure.0.fields.0.type: required", { structure: [{ name: "n", fields: [{ name: "f" }] }] }],
  ["structure.0.fields.0.name: required", { structure: [{ name: "n", fields: [{ type: "t" }] }] }],
])("event types are refused with %s", (problem, reply) => {
  expect(readTypes(reply)).toEqual([problem]);
});
