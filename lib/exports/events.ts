/**
 * `skyhook/events`: types, schemas and examples of the events on Skyhook's bus, for subscribers and senders. A bundler
 * leaves out the parts that a program does not use.
 */
import * as z from "zod";
import { type Problem, problemsOf, problemsText } from "../contract/problem.ts";
import type { DetailType } from "../events/catalogue.ts";
import { DETAIL_TYPES, EVENT_SOURCE, eventSchemaOf, isDetailType } from "../events/envelope.ts";
import { exampleOf } from "../events/examples.ts";
import { type RequestType, requestSchemaOf } from "../events/request-envelope.ts";
import { CONTRACT_VERSION } from "../events/version.ts";
import type { JsonValue } from "../platform/ports/ledger.ts";

export { anyEventSchema, type JsonSchema, jsonSchemaOf } from "../events/json-schema.ts";
export type { DetailType, Problem, RequestType };
export { CONTRACT_VERSION, DETAIL_TYPES, eventSchemaOf, requestSchemaOf };

/** The fields that a schema names, without the index signature of unknown ones. */
type Known<T> = [z.core.util.JSONType] extends [T]
  ? JsonValue
  : T extends readonly (infer Entry)[]
    ? readonly Known<Entry>[]
    : T extends object
      ? [keyof Named<T>] extends [never]
        ? { readonly [K in keyof T]: Known<T[K]> }
        : Named<T>
      : T;
type Named<T> = {
  readonly [K in keyof T as string extends K ? never : K]: Known<T[K]>;
};

/** An event as a subscriber gets it: of one type, `SkyhookEvent<"CommandFailed">`, or of any. */
export type SkyhookEvent<T extends DetailType = DetailType> = {
  [Type in T]: Known<z.output<ReturnType<typeof eventSchemaOf<Type>>>>;
}[T];

/** A request as its sender writes it. `account`, `time` and others are EventBridge's to fill in. */
export type SkyhookRequest<T extends RequestType = RequestType> = {
  [Type in T]: Known<z.input<ReturnType<typeof requestSchemaOf<Type>>>>;
}[T];

/** An event that `parseEvent` refuses. The text names each wrong field and its rule, never its value. */
export class EventError extends Error {
  override readonly name = "EventError";
  /** `foreign`: not an event of Skyhook; `invalid`: an event of Skyhook that breaks its schema. */
  readonly kind: "foreign" | "invalid";
  /** Dotted path of each wrong field, such as `detail.data.outcome`, and the rule that it breaks. */
  readonly problems: readonly Problem[];

  constructor(kind: EventError["kind"], problems: readonly Problem[]) {
    super(
      `${kind === "foreign" ? "not an event of Skyhook" : "invalid event"}: ${problemsText(problems)}`,
    );
    this.kind = kind;
    this.problems = problems;
  }
}

const identitySchema = z.looseObject({ source: z.string(), "detail-type": z.string() });

const SCHEMAS: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  DETAIL_TYPES.map((type) => [type, eventSchemaOf(type)]),
);

const typeOf = (raw: unknown, source: string): DetailType => {
  const identity = identitySchema.safeParse(raw);
  if (!identity.success) throw new EventError("foreign", problemsOf(identity.error.issues));
  const { source: given, "detail-type": type } = identity.data;
  if (given !== source)
    throw new EventError("foreign", [{ path: "source", rule: `must be ${source}` }]);
  if (isDetailType(type)) return type;
  throw new EventError("foreign", [
    {
      path: "detail-type",
      rule: "no event of this version of skyhook; filter by detail-type, or upgrade skyhook",
    },
  ]);
};

/**
 * Checks an event of a rule's target. The type of the result narrows by `detail-type`. Unknown fields, which later
 * versions may add, are kept.
 * @param event EventBridge's event, such as the first argument of a Lambda handler
 * @param options `source`: the stage's `eventSource`; default `skyhook`
 * @throws EventError for anything else, with every wrong field and its rule
 */
export const parseEvent = (
  event: unknown,
  { source = EVENT_SOURCE }: { readonly source?: string } = {},
): SkyhookEvent => {
  const read = SCHEMAS[typeOf(event, source)]?.safeParse(event);
  if (read?.success) return read.data as SkyhookEvent;
  throw new EventError("invalid", problemsOf(read?.error.issues ?? []));
};

/** An example of an event as a subscriber gets it, for tests of its handler. Each call returns a new copy. */
export const exampleEvent = <T extends DetailType>(type: T): SkyhookEvent<T> =>
  JSON.parse(JSON.stringify(exampleOf(type)));
