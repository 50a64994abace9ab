import * as z from "zod";
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import type { Family, Operation } from "./operation.ts";
import { type Endpoint, endpointsOf } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { ownRulesOf } from "./own-rules.ts";
import { uint64 } from "./values.ts";

/** The error body of each product. Every key but the text may be missing in a real answer. */
export const ERROR_BODIES = {
  cloud: z
    .looseObject({
      exception_class: z.string().describe("Kind of error, such as ValidationError"),
      message: z.string(),
      request_id: z.string(),
      invalid_fields: z
        .record(z.string(), z.array(z.string()))
        .optional()
        .describe("Rules that a request breaks, by field"),
    })
    .meta({ id: "CloudError" }),
  storage: z.looseObject({ error: z.string() }).meta({ id: "StorageError" }),
  streaming: z.looseObject({ error: z.string() }).meta({ id: "StreamingError" }),
} as const satisfies Record<Family, z.ZodObject>;

const JSON_TYPE = "application/json";

const FAMILIES: Readonly<Record<Family, string>> = {
  cloud: "Containers, instances, policies, pools, routers, tags, prices and tasks",
  storage: "Storage notification events",
  streaming: "AI tasks",
};

/** The refusals that every operation may answer with; the error's text says which rule was broken. */
export const REFUSALS: Readonly<Record<string, string>> = {
  400: "A value breaks a rule, or the resource is in the wrong state",
  401: "No key, or an unknown or revoked one",
  403: "The Host header names neither this machine nor an allowed host",
  404: "Not there, or not this client's",
  409: "A running task holds the resource, or it exists already",
  413: "The body is too large",
  415: "The body is not application/json",
  429: "Too many requests; Retry-After says how many seconds to wait",
};

const refusals = (family: Family): Record<string, ZodOpenApiResponseObject> =>
  Object.fromEntries(
    Object.entries(REFUSALS).map(([status, description]) => [
      status,
      {
        id: `${family}-${status}`,
        description,
        content: { [JSON_TYPE]: { schema: ERROR_BODIES[family] } },
      },
    ]),
  );

/** One object for each, so that operations refer to it and do not repeat it. */
const REFUSALS_OF = {
  cloud: refusals("cloud"),
  storage: refusals("storage"),
  streaming: refusals("streaming"),
};

const DEPRECATION_HEADERS = {
  Deprecation: { description: "Since when, RFC 9745", schema: { type: "string" } },
  Link: { description: "The successor of the path", schema: { type: "string" } },
} as const;

const successOf = (
  { successStatus, response }: Operation,
  { deprecated }: Endpoint,
): ZodOpenApiResponseObject => ({
  description: "Done",
  ...(deprecated && { headers: DEPRECATION_HEADERS }),
  ...(successStatus === 200 && { content: { [JSON_TYPE]: { schema: response } } }),
});

const isRequired = (body: z.ZodType): boolean => !body.safeParse(undefined).success;

const takesBody = (body: z.ZodType): boolean => !(body instanceof z.ZodUndefined);

const describe = (
  operation: Operation,
  endpoint: Endpoint,
  index: number,
): ZodOpenApiOperationObject => {
  const { id, family, summary, reference, params, query, body } = operation;
  return {
    // An operation's second path needs an id of its own.
    operationId: index === 0 ? id : `${id}-${index + 1}`,
    summary,
    description: reference,
    tags: [family],
    ...(endpoint.deprecated && {
      deprecated: true,
      description: `${reference}; deprecated, successor: ${endpoint.deprecated.successorPath}`,
    }),
    requestParams: { path: params, query },
    ...(takesBody(body) && {
      requestBody: { required: isRequired(body), content: { [JSON_TYPE]: { schema: body } } },
    }),
    responses: {
      [operation.successStatus]: successOf(operation, endpoint),
      ...REFUSALS_OF[family],
    },
  };
};

const METHODS = {
  GET: "get",
  POST: "post",
  PUT: "put",
  PATCH: "patch",
  DELETE: "delete",
} as const;

const pathsOf = (operations: readonly Operation[]): ZodOpenApiPathsObject => {
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of operations) {
    for (const [index, endpoint] of endpointsOf(operation).entries()) {
      paths[endpoint.path] = {
        ...paths[endpoint.path],
        [METHODS[endpoint.method]]: describe(operation, endpoint, index),
      };
    }
  }
  return paths;
};

/** Rules that JSON Schema cannot express, such as cross-field rules. */
const rulesInWords = (schema: z.core.$ZodType): string =>
  [
    ...new Set(
      ownRulesOf(schema).map(({ field, text }) =>
        field === undefined ? text : `${field}: ${text}`,
      ),
    ),
  ].join("; ");

/** A list of words and a length need no text of ours. */
const saysItself = ({ enum: words, const: word, maxLength }: z.core.JSONSchema.BaseSchema) =>
  words !== undefined || word !== undefined || maxLength !== undefined;

const UINT64 = {
  type: "integer",
  format: "uint64",
  minimum: 0,
  // JavaScript would round it as a JSON number in `maximum`.
  description: "at most 18446744073709551615; JSON readers that use floating point lose digits",
};

/** The whole interface as an OpenAPI 3.1 document. */
export const createOpenApi = () =>
  createDocument(
    {
      openapi: "3.1.1",
      info: {
        title: "Cloud infrastructure service",
        version: "1.0.0",
        description: "The interface as Skyhook's service implements it.",
      },
      tags: Object.entries(FAMILIES).map(([name, description]) => ({ name, description })),
      security: [{ apiKey: [] }],
      paths: pathsOf(OPERATIONS),
      components: {
        securitySchemes: {
          apiKey: {
            type: "apiKey",
            in: "header",
            name: "Authorization",
            description: "The word apikey, one space, then the key",
          },
        },
      },
    },
    {
      override: ({ jsonSchema, zodSchema, io }) => {
        // zod lists the JavaScript types of a number; on the wire it has the one that the schema names.
        if (jsonSchema.type !== undefined) Reflect.deleteProperty(jsonSchema, "anyOf");
        if (zodSchema === uint64) {
          Reflect.deleteProperty(jsonSchema, "anyOf");
          Object.assign(jsonSchema, UINT64);
        }
        // A format says what its pattern does.
        if (jsonSchema.format !== undefined) Reflect.deleteProperty(jsonSchema, "pattern");
        const rules = rulesInWords(zodSchema);
        if (rules !== "" && !saysItself(jsonSchema)) jsonSchema.description ??= rules;
        // Bounds of every number; in a request they are a rule, in an answer they say nothing.
        if (io === "output" && jsonSchema.minimum === Number.MIN_SAFE_INTEGER) {
          delete jsonSchema.minimum;
        }
        if (io === "output" && jsonSchema.maximum === Number.MAX_SAFE_INTEGER) {
          delete jsonSchema.maximum;
        }
      },
    },
  );

export type OpenApiDocument = ReturnType<typeof createOpenApi>;
