import { describe, expect, it } from "vitest";
import * as z from "zod";
import { fieldTable, json } from "../../../infra/reference/fields.mjs";
import { editorSchemaOf } from "../../../lib/config/editor-schema.ts";
import { EVENT_DATA, metadataSchema } from "../../../lib/events/catalogue.ts";
import { EVENT_EXAMPLES, REQUEST_EXAMPLES } from "../../../lib/events/examples.ts";
import { commandRequestedSchema, taskFollowSchema } from "../../../lib/events/requests.ts";
import { reactionsSchema } from "../../../lib/intake/reactions-config.ts";
import { watchlistSchema } from "../../../lib/jobs/prices/watchlist.ts";
import { thresholdConfigSchema } from "../../../lib/jobs/thresholds/config.ts";
import { accountsSchema } from "../../../lib/provider/accounts-schema.ts";

const WORDS = { heading: "Field", required: "always", optional: "optional" };

const tableOf = (schema: z.ZodType): string => fieldTable(editorSchemaOf(schema), WORDS);

/** Rows of fields without a description. */
const undescribed = (schema: z.ZodType): readonly string[] =>
  tableOf(schema)
    .split("\n")
    .filter((row) => row.endsWith("|  |"));

describe("the reference of events and configuration", () => {
  it.each(Object.entries(EVENT_DATA))("describes %s and each of its fields", (_name, schema) => {
    expect(z.globalRegistry.get(schema)?.description).toMatch(/\.$/);
    expect(undescribed(schema)).toEqual([]);
  });

  it.each([
    ["the metadata", metadataSchema],
    ["CommandRequested", commandRequestedSchema],
    ["TaskFollowRequested", taskFollowSchema()],
  ])("describes each field of %s", (_name, schema) => {
    expect(undescribed(schema)).toEqual([]);
  });

  it.each(Object.entries(EVENT_DATA))(
    "has an example of %s that the catalogue accepts",
    (...of) => {
      const [name, schema] = of;
      const example = Object.entries(EVENT_EXAMPLES).find(([type]) => type === name)?.[1];

      expect(example?.["detail-type"]).toBe(name);
      const { metadata, data } = z
        .strictObject({ metadata: metadataSchema.strict(), data: schema.strict() })
        .parse(example?.detail);
      expect(json({ metadata, data })).toBe(json(example?.detail));
    },
  );

  it("has an example of each request that its schema accepts", () => {
    const { CommandRequested, TaskFollowRequested } = REQUEST_EXAMPLES;

    expect(commandRequestedSchema.safeParse(CommandRequested.detail).error).toBeUndefined();
    expect(taskFollowSchema().safeParse(TaskFollowRequested.detail).error).toBeUndefined();
  });

  it.each([
    ["accounts.yaml", accountsSchema],
    ["reactions.yaml", reactionsSchema],
    ["thresholds.yaml", thresholdConfigSchema],
    ["watchlist.yaml", watchlistSchema],
  ])("describes each field of %s", (_name, schema) => {
    expect(undescribed(schema)).toEqual([]);
  });

  it("writes types, limits, defaults and the values of an enum", () => {
    const schema = z.object({
      state: z.enum(["on", "off"]).meta({
        description: "State",
        meanings: { on: "at work", off: "stopped" },
      }),
      rates: z
        .array(z.int().min(1).max(1000))
        .max(3)
        .optional()
        .meta({ description: "Rates", default: "[]" }),
      at: z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("day"), day: z.iso.datetime().nullable() }),
        z.object({ kind: z.literal("never") }),
      ]),
    });

    expect(tableOf(schema).split("\n")).toEqual([
      "| Field | Type | Presence | Description |",
      "| --- | --- | --- | --- |",
      "| `state` | enum | always | State. <br>`on`: at work. <br>`off`: stopped. |",
      "| `rates` | list of integers (1 to 1,000) (at most 3 entries) | optional | Rates. Default: `[]`. |",
      "| `at` | object | always |  |",
      "| `at.kind` | `day` or `never` | always |  |",
      "| `at.day` | time (ISO 8601) or null | always with `kind` `day` |  |",
    ]);
  });
});
