import { expect, test } from "vitest";
import { editorSchemaOf } from "../../../../lib/config/editor-schema.ts";
import { thresholdConfigSchema } from "../../../../lib/jobs/thresholds/config.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read into a schema of every shape
const schema = JSON.parse(JSON.stringify(editorSchemaOf(thresholdConfigSchema))) as any;

const threshold = schema.properties.thresholds.items;

test("the schema for editors has every field of a thresholds file and allows no other", () => {
  expect(Object.keys(schema.properties)).toEqual(["$schema", "client_id", "prune", "thresholds"]);
  expect(schema.required).toEqual(["thresholds"]);
  expect(schema.additionalProperties).toBe(false);
  expect(Object.keys(threshold.properties)).toEqual([
    "name",
    "storage_name",
    "bucket_name",
    "bytes",
    "count",
  ]);
  expect(threshold.additionalProperties).toBe(false);
});

test("the schema for editors offers the four names", () => {
  expect(threshold.properties.name.enum).toEqual([
    "reaching_used_space",
    "reaching_files_quantity",
    "reaching_used_traffic",
    "reaching_used_requests",
  ]);
});

test("the schema for editors accepts bytes as a number or a size, and a count as a number or text", () => {
  const [, size] = threshold.properties.bytes.anyOf;
  const fits = (text: string) => new RegExp(size?.pattern ?? "^$").test(text);

  expect(["500", "500 GiB", "1.5TiB"].map(fits)).toEqual([true, true, true]);
  expect(["500 gib", "-1", "1e3", "GiB"].map(fits)).toEqual([false, false, false, false]);
  expect(threshold.properties.count.anyOf).toEqual([
    { type: "integer", minimum: 0 },
    { type: "string", pattern: "^\\d+$" },
  ]);
});
