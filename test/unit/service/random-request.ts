import fc from "fast-check";
import * as z from "zod";
import { formatWireJson } from "../../../lib/contract/json.ts";
import type { OpenApiDocument } from "../../../lib/contract/openapi.ts";
import {
  hostileAuthorization,
  hostileContentType,
  hostileMethod,
  hostilePath,
  hostileQuery,
} from "./hostile-parts.ts";
import { extended, malformedBytes, malformedJson, STRANGE_NAMES } from "./malformed-json.ts";
import { type Around, schemaNode, valuesOf } from "./schema-arbitrary.ts";

const parameter = z.object({
  in: z.enum(["path", "query"]),
  name: z.string(),
  required: z.boolean().default(false),
  schema: schemaNode,
});

const requestBody = z.object({
  content: z.object({ "application/json": z.object({ schema: schemaNode }) }),
});

const operation = z.object({
  operationId: z.string(),
  parameters: z.array(parameter).default([]),
  requestBody: requestBody.optional(),
  responses: z.record(z.string(), z.unknown()),
});

const openApi = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});

export interface DescribedOperation extends z.output<typeof operation> {
  readonly method: string;
  readonly path: string;
}

/** Every operation of the OpenAPI document. */
export const readDocument = (document: OpenApiDocument) => {
  const { paths, components } = openApi.parse(document);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, described]): DescribedOperation => ({
        ...described,
        method: method.toUpperCase(),
        path,
      }),
    ),
  );
  return { operations, components: components.schemas };
};

export interface World extends Around {
  readonly apiKey: string;
  /** Path parameters that together identify an existing resource. */
  readonly places: readonly Readonly<Record<string, unknown>>[];
  /** Fields of a body that together identify an existing resource. */
  readonly targets: readonly Readonly<Record<string, unknown>>[];
}

/** The parts of a request, readable in the output of a failed test. */
export interface RandomRequest {
  readonly method: string;
  /** Path as in the URL, with its escapes. */
  readonly path: string;
  /** Query with its question mark, or empty. */
  readonly query: string;
  readonly authorization: string | null;
  readonly contentType: string | null;
  readonly body: string | Uint8Array | undefined;
}

type Parts = { readonly [Part in keyof RandomRequest]: fc.Arbitrary<RandomRequest[Part]> };

const fill = (path: string, values: Readonly<Record<string, unknown>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));

/** URLs resolve these two segments. JSON Schema cannot exclude them; the contract refuses them. */
const isOneSegment = (value: unknown): boolean => value !== "." && value !== "..";

const pathsTo = ({ path, parameters }: DescribedOperation, world: World): fc.Arbitrary<string> => {
  const inPath = parameters.filter((one) => one.in === "path");
  const anywhere = fc.record(
    Object.fromEntries(
      inPath.map(({ name, schema }) => [name, valuesOf(schema, name, world).filter(isOneSegment)]),
    ),
  );
  const places = world.places.filter((place) => inPath.every(({ name }) => name in place));
  const somewhere = places.length === 0 ? anywhere : fc.constantFrom(...places);
  return fc.oneof(anywhere, somewhere).map((values) => fill(path, values));
};

const toQuery = (values: Readonly<Record<string, unknown>>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of [value].flat()) query.append(name, String(one));
  }
  return query.size === 0 ? "" : `?${query}`;
};

const queriesTo = ({ parameters }: DescribedOperation, world: World): fc.Arbitrary<string> => {
  const inQuery = parameters.filter((one) => one.in === "query");
  const model: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
    inQuery.map(({ name, schema }) => [name, valuesOf(schema, name, world)]),
  );
  const requiredKeys = inQuery.filter(({ required }) => required).map(({ name }) => name);
  return fc.record(model, { requiredKeys }).map(toQuery);
};

const bodiesTo = (
  { requestBody }: DescribedOperation,
  world: World,
): fc.Arbitrary<unknown> | undefined => {
  if (requestBody === undefined) return undefined;
  const { schema } = requestBody.content["application/json"];
  const anything = valuesOf(schema, "", world);
  const targets = world.targets.filter((target) =>
    Object.keys(target).every((name) => schema.properties?.[name] !== undefined),
  );
  if (targets.length === 0) return anything;
  const aimed = fc
    .tuple(anything, fc.constantFrom(...targets))
    .map(([body, target]) => Object.assign({}, body, target));
  return fc.oneof(anything, aimed);
};

const fittingParts = (described: DescribedOperation, world: World): Parts => {
  const bodies = bodiesTo(described, world);
  return {
    method: fc.constant(described.method),
    path: pathsTo(described, world),
    query: queriesTo(described, world),
    authorization: fc.constant(`apikey ${world.apiKey}`),
    contentType: fc.constant(bodies === undefined ? null : "application/json"),
    body: bodies?.map((value) => formatWireJson(value)) ?? fc.constant(undefined),
  };
};

const hostileParts = (described: DescribedOperation, world: World, fitting: Parts): Parts => {
  // Also for an operation without a body.
  const bodies = bodiesTo(described, world) ?? fc.constant({ name: "x" });
  const names = described.parameters.filter((one) => one.in === "query").map(({ name }) => name);
  return {
    method: hostileMethod,
    path: hostilePath(fitting.path),
    query: hostileQuery(fitting.query, names),
    authorization: fc.option(hostileAuthorization),
    contentType: fc.option(hostileContentType),
    body: fc.oneof(
      { weight: 4, arbitrary: malformedJson(bodies) },
      { weight: 1, arbitrary: malformedBytes(bodies) },
    ),
  };
};

/** Requests that the OpenAPI document allows. */
export const fittingRequests = (described: DescribedOperation, world: World) =>
  fc.record<RandomRequest>(fittingParts(described, world));

export interface StrangeRequest extends RandomRequest {
  /** The unknown name in the query or the body. */
  readonly strange: string;
}

/** Requests that the OpenAPI document allows, except for one unknown name. */
export const strangeRequests = (described: DescribedOperation, world: World) => {
  const fitting = fc.record<RandomRequest>(fittingParts(described, world));
  const names = fc.constantFrom(...STRANGE_NAMES);
  const inQuery = fc.tuple(fitting, names).map(
    ([sent, strange]): StrangeRequest => ({
      ...sent,
      strange,
      query: `${sent.query || "?"}&${new URLSearchParams([[strange, "1"]])}`,
    }),
  );
  const bodies = bodiesTo(described, world);
  if (bodies === undefined) return inQuery;
  const inBody = fc.tuple(fitting, bodies, names).map(
    ([sent, body, strange]): StrangeRequest => ({
      ...sent,
      strange,
      body: extended(body, strange, "1"),
    }),
  );
  return fc.oneof(inQuery, inBody);
};

/** Requests with one invalid part, or with all parts invalid. */
export const malformedRequests = (described: DescribedOperation, world: World) => {
  const fitting = fittingParts(described, world);
  const hostile = hostileParts(described, world, fitting);
  const contentType = fc.constant("application/json");
  const body = fitting.body.map((text) => text ?? "{}");
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ ...fitting, contentType, body: hostile.body }) },
    fc.record({ ...fitting, contentType: hostile.contentType, body }),
    fc.record({ ...fitting, authorization: hostile.authorization }),
    fc.record({ ...fitting, method: hostile.method }),
    fc.record({ ...fitting, path: hostile.path }),
    fc.record({ ...fitting, query: hostile.query }),
    fc.record(hostile),
  );
};

/**
 * The request as the service receives it. `Request` itself refuses some methods, and a body with GET, which are
 * both possible over HTTP.
 */
export const toRequest = (sent: RandomRequest): Request => {
  const headers = new Headers();
  if (sent.authorization !== null) headers.set("authorization", sent.authorization);
  if (sent.contentType !== null) headers.set("content-type", sent.contentType);
  const request = new Request(`http://service.test${sent.path}${sent.query}`, {
    method: "POST",
    headers,
    ...(sent.body !== undefined && { body: sent.body }),
  });
  return Object.defineProperty(request, "method", { value: sent.method });
};
