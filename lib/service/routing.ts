import * as z from "zod";
import type { Mutation, Read } from "../contract/operation.ts";
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

/**
 * Answers a request with the wire form of the reply.
 * @throws RefusedError when the request breaks a rule
 */
type Answer<Records extends RecordReader> = (raw: RawValues, context: Context<Records>) => unknown;

/** An operation of the contract together with what the service does for it. */
export type Route<Id extends string = string> =
  | { readonly id: Id; readonly kind: "read"; readonly answer: Answer<RecordReader> }
  | { readonly id: Id; readonly kind: "mutation"; readonly answer: Answer<Draft> };

const formOf = (schema: z.ZodType, io: "input" | "output"): string =>
  JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: "any" }));

/** The compiler proves the reply's type; only where the wire form differs, as for 64-bit integers, it is encoded. */
const wireFormOf = <R extends z.ZodType>(response: R): ((reply: z.output<R>) => unknown) =>
  formOf(response, "input") === formOf(response, "output")
    ? (reply) => reply
    : (reply) => z.encode(response, reply);

/** Joins a declaration and its handler, and erases their types. */
const join = <
  Records extends RecordReader,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
>(
  operation: Read<string, P, Q, B, R> | Mutation<string, P, Q, B, R>,
  handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>, Records>) => z.output<R>,
): Answer<Records> => {
  const readValues = createValueReader(operation);
  const toWire = wireFormOf(operation.response);
  return (raw, context) => toWire(handle({ ...context, ...readValues(raw) }));
};

/** A route that changes nothing: its handler gets a reader of the records. */
export const readRoute = <
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
>(
  operation: Read<Id, P, Q, B, R>,
  handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => z.output<R>,
): Route<Id> => ({ id: operation.id, kind: "read", answer: join(operation, handle) });

/** A route whose handler may write. */
export const mutationRoute = <
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
>(
  operation: Mutation<Id, P, Q, B, R>,
  handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>, Draft>) => z.output<R>,
): Route<Id> => ({ id: operation.id, kind: "mutation", answer: join(operation, handle) });
