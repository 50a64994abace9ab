import { describe, expect, test } from "vitest";
import { getFloatingIpTag, getNetworkTag } from "../../../lib/contract/tags.ts";
import { accepted, bothWays, received, refused } from "./both-ways.ts";

const ID = "c64e5db1-5f1f-43ec-a8d9-5090df85b82d";
const tag = { key: "cost-center", read_only: false, value: "platform" };

describe.each([
  { id: getFloatingIpTag.id, operation: getFloatingIpTag, field: "floating_ip_id" },
  { id: getNetworkTag.id, operation: getNetworkTag, field: "network_id" },
])("$id", ({ operation, field }) => {
  test.each([
    "k",
    "k".repeat(255),
    "😀".repeat(255),
    // The document limits only the length, so the provider decides about these characters.
    "a key",
    "a=b",
  ])("accepts the key %j", (key) => {
    expect(bothWays(operation.query, { key })).toEqual(accepted({ key }));
  });

  test.each<[string, object]>([
    ["key: required", {}],
    ["key: 1 to 255 characters", { key: "" }],
    ["key: 1 to 255 characters", { key: "k".repeat(256) }],
    ["key: 1 to 255 characters", { key: "😀".repeat(256) }],
    ["key: must be well-formed Unicode", { key: "\udc00" }],
    ["key: a string, not null", { key: null }],
    ["key: a string", { key: 5 }],
    ["key: a string", { key: ["a", "b"] }],
    ["value: unknown field", { key: "a", value: "b" }],
  ])("refuses a query because %s: %j", (problem, query) => {
    expect(bothWays(operation.query, query)).toEqual(refused(problem));
  });

  test("identifies its resource by a UUID in any letter case", () => {
    const path = { project_id: 1, region_id: 2, [field]: ID };

    expect(bothWays(operation.params, path)).toEqual(accepted(path));
    expect(bothWays(operation.params, { ...path, [field]: ID.toUpperCase() })).toEqual(
      accepted(path),
    );
    expect(bothWays(operation.params, { ...path, [field]: "net1" })).toEqual(
      refused(`${field}: a UUID`),
    );
    expect(bothWays(operation.params, { project_id: 1, region_id: 2 })).toEqual(
      refused(`${field}: required`),
    );
  });

  test("takes no body", () => {
    expect(bothWays(operation.body, {})).toEqual(refused(": this operation takes no body"));
  });

  test.each<object>([
    tag,
    { key: "", read_only: true, value: "" },
    { key: "k".repeat(256), read_only: true, value: "v".repeat(256) },
    { ...tag, inherited: true },
  ])("parses the tag %j unchanged", (reply) => {
    expect(received(operation.response, JSON.stringify(reply))).toEqual(reply);
  });

  test.each([
    ["key: required", { key: undefined }],
    ["value: a string, not null", { value: null }],
    ["read_only: required", { read_only: undefined }],
    ["read_only: true or false", { read_only: "false" }],
  ])("refuses a tag with %s", (problem, change) => {
    expect(received(operation.response, JSON.stringify({ ...tag, ...change }))).toEqual([problem]);
  });
});
