import { expect, test } from "vitest";
import { editorSchemaOf } from "../../../lib/config/editor-schema.ts";
import { commandOf } from "../../../lib/intake/reaction.ts";
import { parseReactions, reactionsSchema } from "../../../lib/intake/reactions-config.ts";
import { CONTEXT, eventWith, oneRule, reactionOf } from "./read-file.ts";

const PACKAGED = `{ "reactions": [ {
  "name": "rule",
  "when": { "source": ["billing"] },
  "account": "main",
  "then": {
    "operation": "create-storage-event",
    "body": { "name": "reaching_used_space", "bytes": "18446744073709551615", "bucket_name": "$.detail.bucket" }
  },
  "deadline": "30m"
} ] }`;
const FROM_FILE = oneRule(
  "{ operation: create-storage-event, body: { name: reaching_used_space, bytes: 18446744073709551615, bucket_name: $.detail.bucket } }",
  undefined,
  "deadline: 30m",
);

test("packaged reactions make the same commands as those of the file", () => {
  const event = eventWith({ detail: { bucket: "photos" } });

  const packaged = parseReactions(JSON.parse(PACKAGED), CONTEXT);

  expect(packaged).toMatchObject({ kind: "valid", value: [{ name: "rule" }] });
  expect(packaged.kind === "valid" && packaged.value.map((rule) => commandOf(rule, event))).toEqual(
    [commandOf(reactionOf(FROM_FILE), event)],
  );
});

test("packaged reactions are checked by the rules of the file, and every problem is reported", () => {
  const packaged = PACKAGED.replace('"main"', '"mian"')
    .replace("billing", "skyhook")
    .replace('"deadline": "30m"', '"guards": [5]');

  const read = parseReactions(JSON.parse(packaged), CONTEXT);

  expect(read).toEqual({
    kind: "invalid",
    problems: [
      { path: "reactions.0.guards.0", rule: "must be an object" },
      {
        path: "reactions.0.when.detail-type",
        rule: "required for Skyhook's own events: list each detail-type by name",
      },
      {
        path: "reactions.0.account",
        rule: "unknown account, must be one of: main, narrow, placed",
      },
    ],
  });
});

test("the schema for editors has every field of a reactions file, and accepts a path for each part of a request", () => {
  const schema = JSON.parse(JSON.stringify(editorSchemaOf(reactionsSchema)));

  const { items } = schema.properties.reactions;
  const { then } = items.properties;

  expect(Object.keys(schema.properties)).toEqual(["$schema", "reactions"]);
  expect(Object.keys(items.properties)).toEqual([
    "name",
    "when",
    "bus",
    "account",
    "key",
    "then",
    "guards",
    "deadline",
  ]);
  expect(items.required).toEqual(["name", "when", "then"]);
  expect(items.properties.when).toMatchObject({ type: "object", required: ["source"] });
  expect(Object.keys(then.properties)).toEqual(["operation", "params", "query", "body"]);
  expect(then.required).toEqual(["operation"]);
  expect(then.properties.body.type).toEqual(["object", "string"]);
  expect([schema, items, then].map((each) => each.additionalProperties)).toEqual([
    false,
    false,
    false,
  ]);
});
