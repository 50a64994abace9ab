import type * as z from "zod";
import { lazy } from "./lazy.ts";
import { noBody } from "./values.ts";

/** The provider's product that serves an operation. It determines the shape of error bodies. */
export type Family = "cloud" | "storage" | "streaming";

/** The product that serves a path; `cloud` for an unknown path. */
export const familyOf = (path: string): Family => {
  if (path.startsWith("/storage/")) return "storage";
  return path.startsWith("/streaming/") ? "streaming" : "cloud";
};

/** A path that the provider deprecates in favour of another one with the same method. */
interface Deprecation {
  /** Time of the first published revision that deprecates the path, ISO 8601. */
  readonly since: string;
  readonly successorPath: string;
}

export type RequestField = `params.${string}` | `query.${string}` | `body.${string}`;

/** The lane of a command: the kind of resource, and the request fields that identify one. */
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
 * Strategy after a mutation was sent and its outcome is unknown.
 * - `send-again`: the request states a target, so a second effect equals the first.
 * - `send-again-unless-done`: as above, but a refusal may mean that the first request succeeded.
 * - `send-again-when-unlocked`: wait until no task locks the resource, then send again.
 * - `conflict-means-created`: send again; "already exists" is success if the record equals the request.
 * - `look-for-effect`: look for the created resource; send again only when it is proven absent.
 */
export type AfterAmbiguousSend =
  | "send-again"
  | "send-again-unless-done"
  | "send-again-when-unlocked"
  | "conflict-means-created"
  | "look-for-effect";

interface Schemas<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
> {
  readonly params: P;
  readonly query: Q;
  /** Schema of the request body; `noBody` if the operation takes none. */
  readonly body: B;
  readonly response: R;
}

interface OperationBase<
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
> extends Schemas<P, Q, B, R> {
  readonly id: Id;
  /** Number in the interface document, or a short name for a published operation that has none. */
  readonly reference: string;
  readonly summary: string;
  readonly family: Family;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path template; `{name}` is replaced by the path parameter of that name. */
  readonly path: string;
  readonly successStatus: 200 | 204;
  /** The reply contains prices: numbers that floating point would round are parsed as text. */
  readonly hasPrices?: true;
  /** Second path with the same replies. The account's settings choose between the two. */
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
  /** `immediate`: the reply is the result; `tasks`: the reply lists background tasks to follow. */
  readonly answers: "immediate" | "tasks";
  readonly lane: LaneRule;
  /** True if 409 means that a running task locks the resource, so that the same request can succeed later. */
  readonly conflictMeansLocked: boolean;
  readonly afterAmbiguousSend: AfterAmbiguousSend;
  /** Set for an operation that sends no mutation: the request field with the id of the task to follow. */
  readonly follows?: RequestField;
  /** Request fields with secret values. Only the stored request contains them; no event, log or error does. */
  readonly secrets?: readonly RequestField[];
}

export type Operation = Read | Mutation;

/** Values of the given request fields, in the same order; undefined for a missing one. */
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

/**
 * Adds schemas that are built together, when the first of them is used. A response may be a getter: then it is built at
 * its own first use, because a sender of requests reads no reply of the provider.
 */
export const withSchemas = <
  T extends object,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
>(
  rest: T,
  schemas: () => Schemas<P, Q, B, R>,
): T & Schemas<P, Q, B, R> => {
  const built = lazy(schemas);
  const response = lazy(() => built().response);
  return {
    ...rest,
    get params() {
      return built().params;
    },
    get query() {
      return built().query;
    },
    get body() {
      return built().body;
    },
    get response() {
      return response();
    },
  };
};

/** Fields that a declaration omits because they have a default, follow from the path, or are in `schemas`. */
type Derived =
  | "kind"
  | "family"
  | "successStatus"
  | "conflictMeansLocked"
  | keyof Schemas<never, never, never, never>;

/** Declares a mutating operation and keeps the exact type of each schema. */
export const mutation = <
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  R extends z.ZodType,
>({
  schemas,
  ...declaration
}: Omit<Mutation<Id>, Derived> & {
  readonly schemas: () => Schemas<P, Q, B, R>;
  readonly successStatus?: 204;
  readonly conflictMeansLocked?: true;
}): Mutation<Id, P, Q, B, R> =>
  withSchemas(
    {
      kind: "mutation",
      family: familyOf(declaration.path),
      successStatus: 200,
      conflictMeansLocked: false,
      ...declaration,
    },
    schemas,
  );

/** Declares a read: a GET without a body. */
export const read = <
  Id extends string,
  P extends z.ZodObject,
  Q extends z.ZodObject,
  R extends z.ZodType,
>({
  schemas,
  ...declaration
}: Omit<Read<Id>, Derived | "method"> & {
  readonly schemas: () => Omit<Schemas<P, Q, never, R>, "body">;
}): Read<Id, P, Q, ReturnType<typeof noBody>, R> =>
  withSchemas(
    {
      kind: "read",
      method: "GET",
      family: familyOf(declaration.path),
      successStatus: 200,
      ...declaration,
    },
    () => ({ ...schemas(), body: noBody() }),
  );

/** Method and path of an operation. */
export interface Endpoint extends Pick<Operation, "method" | "path" | "deprecated"> {}

/** All endpoints of an operation: its own path, the successor of a deprecated one, and `otherPath`. */
export const endpointsOf = (operation: Operation): readonly Endpoint[] => {
  const { method, path, otherPath, deprecated } = operation;
  const others = [deprecated?.successorPath, otherPath].filter((one) => one !== undefined);
  return [
    { method, path, ...(deprecated && { deprecated }) },
    ...others.map((other) => ({ method, path: other })),
  ];
};
