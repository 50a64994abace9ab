import type * as z from "zod";
import { noBody } from "./values.ts";

/** Which of the provider's three products answers; it decides the shape of an error body. */
export type Family = "cloud" | "storage" | "streaming";

/** The product that answers at a path; outside all of them the cloud product does. */
export const familyOf = (path: string): Family => {
  if (path.startsWith("/storage/")) return "storage";
  return path.startsWith("/streaming/") ? "streaming" : "cloud";
};

/** The provider deprecates the path in favour of another one, with the same method. */
interface Deprecation {
  /** Its first publication, ISO 8601. */
  readonly since: string;
  readonly successorPath: string;
}

export type RequestField = `params.${string}` | `query.${string}` | `body.${string}`;

/** The resource whose changes must not overlap, and the request fields that name it. */
interface LaneRule {
  readonly resource:
    | "container"
    | "instance"
    | "policy"
    | "pool"
    | "storage-event"
    | "router"
    | "task";
  readonly by: readonly RequestField[];
}

/**
 * What to do when a mutation was sent and its outcome is unknown; the engine has a strategy for each.
 * - `send-again`: the request states a target, so a second effect equals the first.
 * - `send-again-unless-done`: as above, but a refusal may mean that the first one did it.
 * - `send-again-when-unlocked`: wait until no task holds the resource, then send again.
 * - `conflict-means-created`: send again; "already exists" is ours if the record equals the request.
 * - `look-for-effect`: look for the created resource; send again only when it is proven absent.
 */
export type AfterAmbiguousSend =
  | "send-again"
  | "send-again-unless-done"
  | "send-again-when-unlocked"
  | "conflict-means-created"
  | "look-for-effect";

interface OperationBase<
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
> {
  readonly id: Id;
  /** Number in the interface document, or the public name of another read. */
  readonly reference: string;
  readonly summary: string;
  readonly family: Family;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path template; `{name}` is replaced by the path parameter of that name. */
  readonly path: string;
  readonly params: P;
  readonly query: Q;
  /** Decoded request body; `noBody` if the operation takes none. */
  readonly body: B;
  readonly response: R;
  readonly successStatus: 200 | 204;
  /** Whether the reply has prices: numbers that floating point would round are read as text. */
  readonly hasPrices?: true;
  /** A second path with the same answers; an account names the one that its provider has. */
  readonly otherPath?: string;
  readonly deprecated?: Deprecation;
}

export interface Read<
  Id extends string = string,
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> extends OperationBase<Id, P, Q, B, R> {
  readonly kind: "read";
}

export interface Mutation<
  Id extends string = string,
  P extends z.ZodObject = z.ZodObject,
  Q extends z.ZodObject = z.ZodObject,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> extends OperationBase<Id, P, Q, B, R> {
  readonly kind: "mutation";
  /** `immediate`: the answer is the result; `tasks`: it lists background tasks to follow. */
  readonly answers: "immediate" | "tasks";
  readonly lane: LaneRule;
  /** Whether 409 means that a running task locks the resource, so that the same request may pass later. */
  readonly conflictMeansLocked: boolean;
  readonly afterAmbiguousSend: AfterAmbiguousSend;
  /** Where nothing is sent: the field that names the task to follow. */
  readonly follows?: RequestField;
  /** Request fields whose values never leave the stored request: no event, log or error has them. */
  readonly secrets?: readonly RequestField[];
}

export type Operation = Read | Mutation;

/** The values of fields of a request, in their order; undefined where there is none. */
export const requestFields = (
  request: {
    readonly params: Readonly<Record<string, unknown>>;
    readonly query: Readonly<Record<string, unknown>>;
    readonly body?: Readonly<Record<string, unknown>> | undefined;
  },
  fields: readonly RequestField[],
): readonly unknown[] =>
  fields.map((field) => {
    const [place, name] = splitField(field);
    return request[place]?.[name];
  });

const splitField = (field: RequestField): readonly ["params" | "query" | "body", string] => {
  const name = field.slice(field.indexOf(".") + 1);
  if (field.startsWith("params.")) return ["params", name];
  return [field.startsWith("query.") ? "query" : "body", name];
};

export type Params<O extends Operation> = z.output<O["params"]>;
export type Query<O extends Operation> = z.output<O["query"]>;
export type Body<O extends Operation> = z.output<O["body"]>;
export type Reply<O extends Operation> = z.output<O["response"]>;

/** Fields that a declaration leaves out, because they are the rule or follow from the path. */
type Derived = "kind" | "family" | "successStatus" | "conflictMeansLocked";

/** Declares a mutating operation; every schema keeps its exact type. */
export const mutation = <
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
>(
  declaration: Omit<Mutation<Id, P, Q, B, R>, Derived> & {
    readonly successStatus?: 204;
    readonly conflictMeansLocked?: true;
  },
): Mutation<Id, P, Q, B, R> => ({
  kind: "mutation",
  family: familyOf(declaration.path),
  successStatus: 200,
  conflictMeansLocked: false,
  ...declaration,
});

/** Declares a read: a GET without a body. */
export const read = <
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  R extends z.ZodType,
>(
  declaration: Omit<Read<Id, P, Q, typeof noBody, R>, Derived | "method" | "body">,
): Read<Id, P, Q, typeof noBody, R> => ({
  kind: "read",
  method: "GET",
  body: noBody,
  family: familyOf(declaration.path),
  successStatus: 200,
  ...declaration,
});

/** One path of an operation. */
export interface Endpoint extends Pick<Operation, "method" | "path" | "deprecated"> {}

/** The operation's own path, then its successor and its other path, with the same answers. */
export const endpointsOf = (operation: Operation): readonly Endpoint[] => {
  const { method, path, otherPath, deprecated } = operation;
  const others = [deprecated?.successorPath, otherPath].filter((one) => one !== undefined);
  return [
    { method, path, ...(deprecated && { deprecated }) },
    ...others.map((other) => ({ method, path: other })),
  ];
};
