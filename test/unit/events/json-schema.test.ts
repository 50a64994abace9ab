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

describe("the AsyncAPI document", () => {
  const document = schemaIn("asyncapi.json");

  it.each(EVERY)("has the schema of %s as payload, and an example that it accepts", (type) => {
    const { $schema, $id, ...payload } = schemaIn(`events/${type}.schema.json`);
    const { examples, payload: used } = document.components.messages[type];

    expect(used).toEqual({ $ref: `#/components/schemas/${type}` });
    expect(document.components.schemas[type]).toEqual(payload);
    const validate = validatorOf(`events/${type}.schema.json`);
    expect(examples.map((each: { payload: object }) => validate(each.payload))).toEqual([true]);
  });

  it("names each event in one operation, and each request in the one that receives", () => {
    const { "receive-requests": receive, ...sending } = document.operations;
    const namesIn = (messages: readonly { $ref: string }[]) =>
      messages.map(({ $ref }) => $ref.replace("#/channels/bus/messages/", ""));
    const sent = Object.values<{ action: string; messages: { $ref: string }[] }>(sending);

    expect(receive.action).toBe("receive");
    expect(namesIn(receive.messages)).toEqual(REQUEST_TYPES);
    expect(new Set(sent.map(({ action }) => action))).toEqual(new Set(["send"]));
    expect(sent.flatMap(({ messages }) => namesIn(messages)).toSorted()).toEqual(
      DETAIL_TYPES.toSorted(),
    );
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
