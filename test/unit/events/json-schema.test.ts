import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { DETAIL_TYPES } from "../../../lib/events/envelope.ts";
import { exampleOf } from "../../../lib/events/examples.ts";
import { REQUEST_TYPES } from "../../../lib/events/request-envelope.ts";

const schemaIn = (path: string) =>
  JSON.parse(readFileSync(new URL(`../../../schemas/${path}`, import.meta.url), "utf8"));

/** A validator of its own for each schema, so that none can refer to another. */
const validatorOf = (path: string) => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
  formats.default(ajv);
  return ajv.compile(schemaIn(path));
};

const EVERY = [...REQUEST_TYPES, ...DETAIL_TYPES];

describe("the JSON Schemas of events", () => {
  it.each(EVERY)("accept the example of %s", (type) => {
    const validate = validatorOf(`events/${type}.schema.json`);

    expect(validate(exampleOf(type)) ? [] : validate.errors).toEqual([]);
  });

  it.each(EVERY)(
    "refuse %s with another detail-type, without detail, or of another version",
    (type) => {
      const validate = validatorOf(`events/${type}.schema.json`);
      const { detail, ...rest } = exampleOf(type);

      expect(validate({ ...rest, detail, "detail-type": "Other" })).toBe(false);
      expect(validate(rest)).toBe(false);
      const metadata = { ...Object(detail.metadata), version: 2 };
      const isRequest = REQUEST_TYPES.some((each) => each === type);
      expect(validate({ ...rest, detail: { ...detail, metadata } })).toBe(isRequest);
    },
  );

  it("differ by detail-type in the schema of any event", () => {
    const validate = validatorOf("event.schema.json");

    for (const type of DETAIL_TYPES) expect(validate(exampleOf(type))).toBe(true);
    for (const type of REQUEST_TYPES) expect(validate(exampleOf(type))).toBe(false);
  });

  it("state that a guard has one resource and one test", () => {
    const validate = validatorOf("events/CommandRequested.schema.json");
    const request = exampleOf("CommandRequested");
    const { data, metadata } = Object(request.detail);
    const withGuard = (guard: object) => ({
      ...request,
      detail: { metadata, data: { ...data, guards: [{ ...data.guards[0], ...guard }] } },
    });

    expect(validate(withGuard({}))).toBe(true);
    expect(validate(withGuard({ exists: true }))).toBe(false);
    expect(validate(withGuard({ network: undefined }))).toBe(false);
  });

  it("have an id each, which depends on no server", () => {
    const ids = EVERY.map((type) => schemaIn(`events/${type}.schema.json`).$id);

    expect(ids).toEqual(EVERY.map((type) => `urn:skyhook:event:${type}:1`));
  });
});

it.each(["accounts", "reactions", "thresholds", "watchlist"])(
  "the JSON Schema of %s refers to nothing outside itself",
  (name) => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);

    expect(() => ajv.compile(schemaIn(`${name}.schema.json`))).not.toThrow();
  },
);
