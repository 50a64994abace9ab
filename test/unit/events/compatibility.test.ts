import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { DETAIL_TYPES } from "../../../lib/events/envelope.ts";
import { type JsonSchema, jsonSchemaOf } from "../../../lib/events/json-schema.ts";
import { REQUEST_TYPES } from "../../../lib/events/request-envelope.ts";
import { CONTRACT_VERSION } from "../../../lib/events/version.ts";

/** The contract that subscribers and senders have: each field by its path, as `required` or not, with type and values. */
interface Contract {
  readonly version: string;
  readonly fields: Readonly<Record<string, string>>;
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const wordOf = ({ type, const: only, enum: values, anyOf, format }: JsonSchema): string =>
  [
    type ?? (anyOf ? "one of several" : "any"),
    format,
    ...(values ?? (only === undefined ? [] : [only])),
  ]
    .filter((part) => part !== undefined)
    .join(" ");

const fieldsOf = (schema: JsonSchema, path: string, presence: string): [string, string][] => [
  [path, `${presence} ${wordOf(schema)}`],
  ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) =>
    isSchema(each)
      ? fieldsOf(each, `${path}.${name}`, schema.required?.includes(name) ? "required" : "optional")
      : [],
  ),
  ...(isSchema(schema.items) ? fieldsOf(schema.items, `${path}[]`, "each") : []),
  ...(schema.anyOf ?? []).flatMap((each, index) =>
    isSchema(each) ? fieldsOf(each, `${path}|${index}`, "or") : [],
  ),
];

const current: Contract = {
  version: CONTRACT_VERSION,
  fields: Object.fromEntries(
    [...REQUEST_TYPES, ...DETAIL_TYPES].flatMap((type) =>
      fieldsOf(jsonSchemaOf(type), type, "event"),
    ),
  ),
};

const FIXTURE = new URL("../../support/fixtures/released-contract.json", import.meta.url);
const released: Contract = JSON.parse(readFileSync(FIXTURE, "utf8"));

/** Whether a field of the released contract may have changed so: only further values may be added. */
const isCompatible = (before: string, now = ""): boolean => {
  const words = new Set(now.split(" "));
  return before.split(" ").every((word) => words.has(word));
};

it("keeps every field that subscribers and senders know; only DETAIL_VERSION may change that", () => {
  const broken = Object.entries(released.fields).filter(
    ([path, before]) => !isCompatible(before, current.fields[path]),
  );

  expect(broken.map(([path, before]) => ({ path, before, now: current.fields[path] }))).toEqual([]);
});

it("requires no new field of a sender", () => {
  const added = Object.entries(current.fields).filter(
    ([path, now]) =>
      REQUEST_TYPES.some((type) => path.startsWith(`${type}.`)) &&
      now.startsWith("required") &&
      released.fields[path] === undefined,
  );

  expect(added).toEqual([]);
});

it("has another version than the released contract if its fields differ; then update the fixture", async () => {
  // With the version raised, `npx vitest run test/unit/events/compatibility.test.ts -u` writes the fixture.
  if (CONTRACT_VERSION === released.version) expect(current).toEqual(released);
  await expect(`${JSON.stringify(current, undefined, 2)}\n`).toMatchFileSnapshot(FIXTURE.pathname);
});
