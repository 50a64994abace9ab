import { describe, expect, test } from "vitest";
import * as z from "zod";
import { editorSchemaOf } from "../../../../lib/config/editor-schema.ts";
import { watchlistSchema } from "../../../../lib/jobs/prices/watchlist.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read into a schema of every shape
const schema = JSON.parse(JSON.stringify(editorSchemaOf(watchlistSchema))) as any;
const item = schema.properties.items.items;

describe("the JSON Schema of a watchlist", () => {
  test("is of draft 2020-12 and describes the file", () => {
    expect(schema).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "Watchlist",
      type: "object",
      required: ["items"],
      additionalProperties: false,
    });
    expect(schema.properties.items).toMatchObject({ type: "array", maxItems: 500 });
  });

  test("has a title and a description for each of our own fields", () => {
    const own = [...Object.values(schema.properties), item, ...Object.values(item.properties)];

    expect(own).toHaveLength(8);
    for (const field of own) {
      expect(field).toMatchObject({
        title: expect.stringMatching(/^[A-Z]/),
        description: expect.stringMatching(/^[A-Z]/),
      });
    }
  });

  test("requires exactly one kind", () => {
    expect(item.required).toEqual(["name"]);
    expect(item.oneOf).toEqual([
      { required: ["instance"] },
      { required: ["k8s_cluster"] },
      { required: ["gpu_cluster"] },
      { required: ["ddos"] },
    ]);
  });

  test("has 64-bit ids as integers", () => {
    expect(item.properties.gpu_cluster.properties.project_id).toEqual({
      type: "integer",
      format: "int64",
      description: "id of the project",
    });
    expect(item.properties.ddos.properties.region_id).toEqual({
      type: "integer",
      description: "id of the region",
    });
  });

  test("describes in words the rules that JSON Schema cannot express", () => {
    expect(item.properties.instance.properties.body.description).toBe(
      "names: give exactly one of names and name_templates",
    );
  });

  test.each([
    [{ items: [{ name: "a", ddos: { region_id: 76 } }] }, true],
    [{ items: [{ name: "a b", ddos: { region_id: 76 } }] }, false],
    [{ items: [{ name: "..", ddos: { region_id: 76 } }] }, false],
    [{ items: [{ name: "...", ddos: { region_id: 76 } }] }, true],
    [{ items: [{ name: "a", ddos: { region: 76 } }] }, false],
    [{ items: [{ name: "a", ddos: { region_id: 76 }, more: 1 }] }, false],
    [{ $schema: "x", items: [] }, true],
    [{}, false],
  ])("accepts the same files as the reader: %j", (content, isTaken) => {
    // zod cannot read alternatives of required fields; a test above checks them.
    const { oneOf: _, ...anyKind } = item;
    const items = { ...schema.properties.items, items: anyKind };
    const readable = { ...schema, properties: { ...schema.properties, items } };

    expect(z.fromJSONSchema(readable).safeParse(content).success).toBe(isTaken);
  });
});
