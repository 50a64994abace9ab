import * as z from "zod";
import type { Draft, RecordReader } from "./records.ts";
import { createValueReader, type RawValues, type ValueSchemas } from "./request-values.ts";
import type { KeyRecord } from "./state/keys.ts";

/** What a handler may know besides its request's values: of the records it may read all. */
export interface Context<Records extends RecordReader = RecordReader> {
  /** Whose request it is. */
  readonly caller: KeyRecord;
  readonly records: Records;
  /** The instant of the request, epoch milliseconds. */
  readonly at: number;
  readonly newId: () => string;
  /** Time from a task's creation to its end. */
  readonly taskDurationMs: number;
}

/** What is put into the records is committed when the handler returns, and forgotten when it throws. */
export type MutationContext = Context<Draft>;

/** One request to an operation, its values already read by the operation's schemas. */
export interface Call<P, Q, B, Records extends RecordReader = RecordReader>
  extends Context<Records> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

interface DeclaredOperation<
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
> extends ValueSchemas<P, Q, B> {
  readonly id: Id;
  readonly response: R;
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

/**
 * How a reply gets its wire form. That it is a reply of the operation is proven by its type, so only
 * where the two forms differ, as for 64-bit integers, there is something to do.
 */
const wireFormOf = <R extends z.ZodType>(response: R): ((reply: z.output<R>) => unknown) =>
  formOf(response, "input") === formOf(response, "output")
    ? (reply) => reply
    : (reply) => z.encode(response, reply);

/** Joins a declaration and its handler; from here on their types need not be known. */
const join = <
  Records extends RecordReader,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
>(
  operation: DeclaredOperation<string, P, Q, B, R>,
  handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>, Records>) => z.output<R>,
): Answer<Records> => {
  const readValues = createValueReader(operation);
  const toWire = wireFormOf(operation.response);
  return (raw, context) => toWire(handle({ ...context, ...readValues(raw) }));
};

/** A route that can change nothing: what it is given of the records has no way to write. */
export const readRoute = <
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
>(
  operation: DeclaredOperation<Id, P, Q, B, R> & { readonly kind: "read" },
  handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => z.output<R>,
): Route<Id> => ({ id: operation.id, kind: "read", answer: join(operation, handle) });

/** A route whose handler may write: all that it put is committed together when it returns. */
export const mutationRoute = <
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
>(
  operation: DeclaredOperation<Id, P, Q, B, R> & { readonly kind: "mutation" },
  handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>, Draft>) => z.output<R>,
): Route<Id> => ({ id: operation.id, kind: "mutation", answer: join(operation, handle) });
