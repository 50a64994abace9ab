import fc from "fast-check";
import { expect, test } from "vitest";
import { COMMANDED } from "../../../lib/contract/operations.ts";
import { checkRequest } from "../../../lib/engine/read-request.ts";
import { nameProblems, sizeProblems } from "../../../lib/engine/request.ts";
import { commandRequestedSchema } from "../../../lib/events/requests.ts";
import type { Reaction } from "../../../lib/intake/reaction.ts";
import { commandOf } from "../../../lib/intake/reaction.ts";
import { parseReactions } from "../../../lib/intake/reactions-config.ts";
import type { JsonObject } from "../../../lib/platform/ports/ledger.ts";
import { CONTEXT, eventWith, oneRule, reactionOf } from "./read-file.ts";
import { SAMPLE_REQUESTS } from "./sample-requests.ts";

type Path = readonly (string | number)[];
type Fields = Readonly<Record<string, unknown>>;

const NAMES = ["project_id", "name", "bytes", "count", "a.b", "it's", "\\", "", "__proto__", "0"];
const name = fc.oneof(fc.constantFrom(...NAMES), fc.string());
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, 5, -1.5, "", "x", "7", "$.detail", "$$.x", "paused"),
    fc.string(),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(name, tie("json"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const fields = fc.dictionary(name, json, { maxKeys: 4, noNullPrototype: true });

/** Any event that EventBridge can deliver. */
const anyEvent = fc
  .tuple(fields, fc.uuid(), fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }))
  .map(([detail, id, date]) => eventWith({ detail, id, time: date.toISOString() }) as JsonObject);

/** Paths of all parts of a value, its own first. */
const placesIn = (value: unknown, path: Path = []): readonly Path[] => [
  path,
  ...(Array.isArray(value)
    ? value.flatMap((item: unknown, index) => placesIn(item, [...path, index]))
    : value !== null && typeof value === "object"
      ? Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key]))
      : []),
];

const partAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (part, step) => Object.getOwnPropertyDescriptor(Object(part), step)?.value,
    value,
  );

/** Returns a copy of the value with another part at a path. */
const replaced = (value: unknown, [step, ...rest]: Path, other: unknown): unknown => {
  if (step === undefined) return other;
  if (Array.isArray(value))
    return value.with(Number(step), replaced(value[Number(step)], rest, other));
  const entries = Object.entries(Object(value));
  const index = entries.findIndex(([key]) => key === step);
  const entry: [string, unknown] = [String(step), replaced(entries[index]?.[1], rest, other)];
  return Object.fromEntries(index < 0 ? [...entries, entry] : entries.with(index, entry));
};

const pathText = (path: Path): string =>
  path
    .map((step) =>
      typeof step === "number" ? `[${step}]` : `['${step.replaceAll(/['\\]/g, "\\$&")}']`,
    )
    .join("");

const parse = (then: unknown) =>
  parseReactions(
    JSON.parse(
      `{ "reactions": [{ "name": "rule", "when": { "source": ["billing"] }, "account": "main", "then": ${JSON.stringify(then)} }] }`,
    ),
    CONTEXT,
  );

const isAccepted = (operationId: unknown, data: Fields): boolean => {
  // Neither a file nor a request may have null instead of an object.
  if (data.params === null || data.query === null) return false;
  const operation = COMMANDED.find(({ id }) => id === operationId)!;
  const { request } = checkRequest(operation, data);
  return request !== undefined && nameProblems(operation, request).length === 0;
};

/** A valid request, half of the time with one change. */
const nearRequest = fc
  .tuple(
    fc.constantFrom(...SAMPLE_REQUESTS),
    fc.option(fc.tuple(fc.nat(), fc.option(name, { nil: undefined }), json), { nil: undefined }),
  )
  .map(([sample, change]): Fields => {
    if (!change) return sample;
    const [nth, added, value] = change;
    const places = placesIn(sample).filter(
      ([place]) => place !== undefined && place !== "operation",
    );
    const place = places[nth % places.length]!;
    const isObject = !Array.isArray(partAt(sample, place));
    return replaced(
      sample,
      added !== undefined && isObject ? [...place, added] : place,
      value,
    ) as Fields;
  });

const isConstant = (value: unknown): boolean =>
  placesIn(value).every((place) => {
    const part = partAt(value, place);
    return typeof part !== "string" || !part.startsWith("$");
  });

test("a rule of constants is valid exactly if its request is, and then every event makes a valid command", () => {
  fc.assert(
    fc.property(nearRequest, anyEvent, (then, event) => {
      fc.pre(isConstant(then));

      const read = parse(then);

      expect(read.kind).toBe(isAccepted(then.operation, then) ? "valid" : "invalid");
      for (const rule of read.kind === "valid" ? read.value : []) {
        const outcome = commandOf(rule, event);
        if (outcome.kind === "incomplete")
          throw new Error("a rule of constants cannot lack a value");
        expect(commandRequestedSchema.safeParse(outcome.detail).success).toBe(true);
        expect(isAccepted(then.operation, outcome.detail.data)).toBe(true);
        expect(sizeProblems(outcome.detail)).toEqual([]);
      }
    }),
  );
});

test("any parts of a valid request may be mapped from the event", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SAMPLE_REQUESTS),
      fc.array(fc.nat(), { maxLength: 4 }),
      (sample, nths) => {
        const then = nths.reduce<unknown>((request, nth) => {
          const places = placesIn(request).filter(
            ([place]) => place !== undefined && place !== "operation",
          );
          return replaced(request, places[nth % places.length]!, "$.detail.part");
        }, sample);

        expect(parse(then)).toMatchObject({ kind: "valid" });
      },
    ),
  );
});

const mapping = (path: string): Reaction =>
  reactionOf(
    oneRule(
      `{ operation: update-container, params: $.source, body: { envs: ${JSON.stringify(path)} } }`,
    ),
  );

test("a mapped value arrives unchanged from any path", () => {
  fc.assert(
    fc.property(anyEvent, fc.nat(), (event, nth) => {
      const places = placesIn(event.detail);
      const place = places[nth % places.length]!;

      const outcome = commandOf(mapping(`$.detail${pathText(place)}`), event);

      expect(outcome).toMatchObject({ kind: "command" });
      const { body } = outcome.kind === "command" ? outcome.detail.data : {};
      expect(partAt(body, ["envs"])).toBe(partAt(event.detail, place));
    }),
  );
});

test("any JSON makes a command if it has an id, a time and the mapped value, else a list of what it lacks", () => {
  const part = fc.oneof(
    json,
    fc.constantFrom("2026-01-31T12:00:00Z", "2026-02-31T12:00:00Z", "17793124-05d4-b198"),
  );
  const envelope = fc.record(
    { id: part, time: part, detail: json, source: json },
    { requiredKeys: [], noNullPrototype: true },
  );
  fc.assert(
    fc.property(envelope as fc.Arbitrary<JsonObject>, name, (event, key) => {
      const outcome = commandOf(mapping(`$.detail${pathText([key])}`), event);

      const { detail } = event;
      const isObject = typeof detail === "object" && detail !== null && !Array.isArray(detail);
      const lacks = [
        ...(event.source === undefined ? ["$.source"] : []),
        ...(isObject && Object.hasOwn(detail, key) ? [] : [`$.detail${pathText([key])}`]),
      ];
      const reported = outcome.kind === "command" ? [] : outcome.problems.map(({ path }) => path);
      expect(reported.filter((path) => path !== "$.id" && path !== "$.time")).toEqual(lacks);
      expect(reported.includes("$.time")).toBe(event.time !== "2026-01-31T12:00:00Z");
      expect(reported.includes("$.id")).toBe(typeof event.id !== "string" || event.id === "");
    }),
  );
});

test("a very deeply nested event makes a command like any other", () => {
  let deep: JsonObject = { end: "x" };
  for (let level = 0; level < 60_000; level += 1) deep = { deep };
  const event = eventWith({ detail: { deep } });

  const whole = commandOf(mapping("$.detail.deep"), event);
  const inner = commandOf(mapping(`$.detail.deep${".deep".repeat(60_000)}.end`), event);

  expect(whole.kind === "command" && partAt(whole.detail.data.body, ["envs"]) === deep).toBe(true);
  expect(inner).toMatchObject({ detail: { data: { body: { envs: "x" } } } });
});
