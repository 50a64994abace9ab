import * as z from "zod";
import type { Operation } from "../contract/operation.ts";
import type { Draft, RecordReader } from "./records.ts";
import { createValueReader, type RawValues } from "./request-values.ts";
import type { KeyRecord } from "./state/keys.ts";

/** What a handler gets besides its request's values. It may read all records. */
export interface Context<Records extends RecordReader = RecordReader> {
  readonly caller: KeyRecord;
  readonly records: Records;
  /** The instant of the request, epoch milliseconds. */
  readonly at: number;
  readonly newId: () => string;
  /** Time from a task's creation to its end. */
  readonly taskDurationMs: number;
}

/** What the handler puts into the records is committed when it returns, and dropped when it throws. */
export type MutationContext = Context<Draft>;

/** One request to an operation, its values already read by the operation's schemas. */
export interface Call<P, Q, B, Records extends RecordReader = RecordReader>
  extends Context<Records> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

type RecordsFor<Kind extends Operation["kind"]> = Kind extends "read" ? RecordReader : Draft;

interface RouteOf<Kind extends Operation["kind"], Id extends string> {
  readonly id: Id;
  readonly kind: Kind;
  /**
   * Answers a request with the wire form of the reply.
   * @throws RefusedError when the request breaks a rule
   */
  readonly answer: (raw: RawValues, context: Context<RecordsFor<Kind>>) => unknown;
}

/** An operation of the contract with the service's handler. */
export type Route<Id extends string = string> = RouteOf<"read", Id> | RouteOf<"mutation", Id>;

const formOf = (schema: z.ZodType, io: "input" | "output"): string =>
  JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: "any" }));

/** The compiler proves the reply's type; only where the wire form differs, as for 64-bit integers, it is encoded. */
const wireFormOf = <R extends z.ZodType>(response: R): ((reply: z.output<R>) => unknown) =>
  formOf(response, "input") === formOf(response, "output")
    ? (reply) => reply
    : (reply) => z.encode(response, reply);

/** Joins a declaration and its handler, and erases their types. Only a mutation's handler may write. */
export const route = <
  Kind extends Operation["kind"],
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
>(
  operation: {
    readonly id: Id;
    readonly kind: Kind;
    readonly params: P;
    readonly query: Q;
    readonly body: B;
    readonly response: R;
  },
  handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>, RecordsFor<Kind>>) => z.output<R>,
): RouteOf<Kind, Id> => {
  const readValues = createValueReader(operation);
  const toWire = wireFormOf(operation.response);
  return {
    id: operation.id,
    kind: operation.kind,
    answer: (raw, context) => toWire(handle({ ...context, ...readValues(raw) })),
  };
};
