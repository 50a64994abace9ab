import * as z from "zod";
import { lazy } from "../contract/lazy.ts";
import type { Operation } from "../contract/operation.ts";
import type { CommittedRecords, Draft, RecordReader } from "./records.ts";
import { createValueReader, type RawValues } from "./request-values.ts";
import type { KeyRecord } from "./state/keys.ts";

/** Context of a handler in addition to the values of its request. It can read all records. */
export interface Context<Records extends RecordReader = RecordReader> {
  readonly caller: KeyRecord;
  readonly records: Records;
  /** The instant of the request, epoch milliseconds. */
  readonly at: number;
  readonly newId: () => string;
  /** Duration of a task from its creation to its end. */
  readonly taskDurationMs: number;
}

/** Context of a mutation. Writes to `records` are committed when the handler returns and dropped when it throws. */
export type MutationContext = Context<Draft>;

/** One request to an operation, with values that the operation's schemas have checked. */
export interface Call<P, Q, B, Records extends RecordReader = RecordReader>
  extends Context<Records> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

type RecordsFor<Kind extends Operation["kind"]> = Kind extends "read" ? CommittedRecords : Draft;

interface RouteOf<Kind extends Operation["kind"], Id extends string> {
  readonly id: Id;
  readonly kind: Kind;
  /**
   * Handles a request and returns the reply in its wire form.
   * @throws RefusedError when the request breaks a rule
   */
  readonly answer: (raw: RawValues, context: Context<RecordsFor<Kind>>) => unknown;
}

/** An operation of the contract with the service's handler. */
export type Route<Id extends string = string> = RouteOf<"read", Id> | RouteOf<"mutation", Id>;

const formOf = (schema: z.ZodType, io: "input" | "output"): string =>
  JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: "any" }));

/** Encodes a reply only where its wire form differs, as for 64-bit integers. The compiler checks the type of any other. */
const wireFormOf = <R extends z.ZodType>(response: R): ((reply: z.output<R>) => unknown) =>
  formOf(response, "input") === formOf(response, "output")
    ? (reply) => reply
    : (reply) => z.encode(response, reply);

/** Combines the declaration of an operation with its handler. Only the handler of a mutation can write. */
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
  const readValues = lazy(() => createValueReader(operation));
  const toWire = lazy(() => wireFormOf(operation.response));
  return {
    id: operation.id,
    kind: operation.kind,
    // Named one by one: spreading two objects costs as much as the rest of a small read.
    answer: (raw, { caller, records, at, newId, taskDurationMs }) => {
      const { params, query, body } = readValues()(raw);
      return toWire()(handle({ caller, records, at, newId, taskDurationMs, params, query, body }));
    },
  };
};
