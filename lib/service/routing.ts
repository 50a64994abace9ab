import * as z from "zod";
import type { Draft } from "./records.ts";
import { type RawValues, readValues, type ValueSchemas } from "./request-values.ts";
import type { KeyRecord } from "./state/state.ts";

/** What a handler may know and do besides its request's values. */
export interface Context {
  /** Whose request it is. */
  readonly caller: KeyRecord;
  /** The records; what is put is committed when the handler returns, and forgotten when it throws. */
  readonly records: Draft;
  /** The instant of the request, epoch milliseconds. */
  readonly at: number;
  readonly newId: () => string;
  /** Time from a task's creation to its end. */
  readonly taskDurationMs: number;
}

/** One request to an operation, its values already read by the operation's schemas. */
export interface Call<P, Q, B> extends Context {
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

/** An operation of the contract together with what the service does for it. */
export interface Route<Id extends string = string> {
  readonly id: Id;
  /**
   * Answers a request with the wire form of the reply.
   * @throws RefusedError when the request breaks a rule; ZodError when our reply breaks the contract
   */
  readonly answer: (raw: RawValues, context: Context) => unknown;
}

/** Joins a declaration and its handler; from here on their types need not be known. */
export const route = <
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
>(
  operation: DeclaredOperation<Id, P, Q, B, R>,
  handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => z.output<R>,
): Route<Id> => ({
  id: operation.id,
  answer: (raw, context) =>
    z.encode(operation.response, handle({ ...context, ...readValues(operation, raw) })),
});
