import { expect, test } from "vitest";
import { replacing, type StoredItem } from "../../../lib/local/level-ledger.ts";

const stored: StoredItem = {
  version: 1,
  dueAt: 1_000,
  expiresAt: 9_000,
  listing: { partition: "commands", sort: "2026" },
  text: "{}",
};

test("a write deletes only the index entries that it does not put again", () => {
  const before = replacing("key", undefined, stored);
  const operations = replacing("key", stored, { ...stored, version: 2, dueAt: 2_000 });

  const due = before.find(({ map }) => map === "due");
  expect(operations.filter(({ type }) => type === "del")).toEqual([
    { type: "del", map: "due", key: due?.key },
  ]);
  expect(operations.filter(({ type }) => type === "put")).toHaveLength(before.length);
});

test("a write deletes all index entries that the item leaves", () => {
  const operations = replacing("key", stored, { version: 2, text: "{}" });

  expect(operations.map(({ type, map }) => `${type} ${map}`)).toEqual([
    "del due",
    "del expiry",
    "del list",
    "put item",
  ]);
});
