import * as z from "zod";
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { JSON_TYPE, REFUSALS_OF } from "./error-responses.ts";
import { formatWireJson, parseWireJson } from "./json.ts";
import { type Endpoint, endpointsOf, type Family, type Operation } from "./operation.ts";
import { OPERATION_EXAMPLES, OPTIONAL_QUERY_EXAMPLES } from "./operation-examples.ts";
import { OPERATION_TEXTS } from "./operation-texts.ts";
import { OPERATIONS } from "./operations.ts";
import { ownRulesOf } from "./own-rules.ts";
import REPLY_EXAMPLES from "./reply-examples.json" with { type: "json" };
import { uint64 } from "./values.ts";

const FAMILIES: Readonly<Record<Family, string>> = {
  cloud: "Containers, instances, policies, pools, routers, tags, prices and tasks",
  storage: "Storage notification events",
  streaming: "AI tasks",
};

const DEPRECATION_HEADERS = {
  Deprecation: { description: "Time of the deprecation (RFC 9745)", schema: { type: "string" } },
  Link: { description: "Successor of the path", schema: { type: "string" } },
} as const;

const successText = (operation: Operation): string => {
  if (operation.successStatus === 204) return "Done; the response has no body";
  return operation.kind === "mutation" && operation.answers === "tasks"
    ? "Accepted; the response lists the background tasks"
    : "Success";
};

/** Replies of the service to `OPERATION_EXAMPLES`, by operation id. */
const replies: Readonly<Record<string, unknown>> = REPLY_EXAMPLES;

const successOf = (operation: Operation, { deprecated }: Endpoint): ZodOpenApiResponseObject => ({
  description: successText(operation),
  ...(deprecated && { headers: DEPRECATION_HEADERS }),
  ...(operation.successStatus === 200 && {
    content: { [JSON_TYPE]: { schema: operation.response, example: replies[operation.id] } },
  }),
});

/** The example's body as it travels: 64-bit integers are numbers there. */
const bodyExampleOf = ({ id, body }: (typeof OPERATIONS)[number]): unknown => {
  const example = OPERATION_EXAMPLES[id].body;
  return example && parseWireJson(formatWireJson(z.encode<z.ZodType>(body, example)));
};

const isRequired = (body: z.ZodType): boolean => !body.safeParse(undefined).success;

const takesBody = (body: z.ZodType): boolean => !(body instanceof z.ZodUndefined);

/** Joins the text of an operation, its number in the interface document, and the successor of a deprecated path. */
const descriptionOf = (
  { id, reference }: (typeof OPERATIONS)[number],
  { deprecated }: Endpoint,
): string =>
  [
    OPERATION_TEXTS[id],
    ...(/^E\d+$/.test(reference) ? [`${reference} of the interface document.`] : []),
    ...(deprecated ? [`This path is deprecated; use ${deprecated.successorPath}.`] : []),
  ].join(" ");

/**
 * Adds an example to each parameter. Tools send the `example` of a parameter, but only show the examples of its
 * schema. So an optional filter gets the latter, and a request from the page `/docs` leaves it out.
 */
const withExamples = (parameters: z.ZodObject, sent: Readonly<Record<string, unknown>> = {}) =>
  z.object(
    Object.fromEntries(
      Object.entries(parameters.shape).map(([name, schema]) => {
        if (!(schema instanceof z.ZodType)) return [name, schema];
        return name in sent
          ? [name, schema.meta({ param: { example: sent[name] } })]
          : [name, schema.meta({ examples: [OPTIONAL_QUERY_EXAMPLES[name]] })];
      }),
    ),
  );

const describe = (
  operation: (typeof OPERATIONS)[number],
  endpoint: Endpoint,
  index: number,
): ZodOpenApiOperationObject => {
  const { id, family, summary, params, query, body } = operation;
  const example = OPERATION_EXAMPLES[id];
  return {
    // An operation id must be unique, so the second path of an operation gets a suffix.
    operationId: index === 0 ? id : `${id}-${index + 1}`,
    summary,
    description: descriptionOf(operation, endpoint),
    tags: [family],
    ...(endpoint.deprecated && { deprecated: true }),
    requestParams: {
      path: withExamples(params, example.params),
      query: withExamples(query, example.query),
    },
    ...(takesBody(body) && {
      requestBody: {
        required: isRequired(body),
        content: { [JSON_TYPE]: { schema: body, example: bodyExampleOf(operation) } },
      },
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

const pathsOf = (operations: typeof OPERATIONS): ZodOpenApiPathsObject => {
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

/** Rules in words for what JSON Schema cannot express, such as cross-field rules. */
const rulesInWords = (schema: z.core.$ZodType): string =>
  [
    ...new Set(
      ownRulesOf(schema).map(({ field, text }) =>
        field === undefined ? text : `${field}: ${text}`,
      ),
    ),
  ].join("; ");

/** Reports whether the schema's keywords state the rule already, as an enum or a length does. */
const isSelfExplanatory = ({ enum: words, const: word, maxLength }: z.core.JSONSchema.BaseSchema) =>
  words !== undefined || word !== undefined || maxLength !== undefined;

const UINT64 = {
  type: "integer",
  format: "uint64",
  minimum: 0,
  // As a number in `maximum`, JavaScript would round the limit.
  description: "at most 18446744073709551615; JSON parsers that use floating point lose digits",
};

/** The whole interface as an OpenAPI 3.1 document, the source of `/openapi.json` and `/docs`. */
export const createOpenApi = () =>
  createDocument(
    {
      openapi: "3.1.1",
      info: {
        title: "Cloud infrastructure service",
        version: "1.0.0",
        description:
          "The provider's HTTP interface as Skyhook's service implements it: operations E1 to E15 of the interface document, tasks, and published operations that show or undo their effects.",
      },
      tags: Object.entries(FAMILIES).map(([name, description]) => ({ name, description })),
      // Relative, so that a request from the page /docs goes to the service that serves the page.
      servers: [{ url: "/", description: "The service that serves this document" }],
      security: [{ apiKey: [] }],
      paths: pathsOf(OPERATIONS),
      components: {
        securitySchemes: {
          apiKey: {
            type: "apiKey",
            in: "header",
            name: "Authorization",
            description:
              "The word apikey, one space, and the key. The page /docs adds the word to a key alone.",
          },
        },
      },
    },
    {
      override: ({ jsonSchema, zodSchema, io }) => {
        // zod adds one alternative for each JavaScript type; JSON has only the type that the schema names.
        if (jsonSchema.type !== undefined) Reflect.deleteProperty(jsonSchema, "anyOf");
        if (zodSchema === uint64()) {
          Reflect.deleteProperty(jsonSchema, "anyOf");
          Object.assign(jsonSchema, UINT64);
        }
        // The format states the same as its pattern.
        if (jsonSchema.format !== undefined) Reflect.deleteProperty(jsonSchema, "pattern");
        const rules = rulesInWords(zodSchema);
        if (rules !== "" && !isSelfExplanatory(jsonSchema)) jsonSchema.description ??= rules;
        // zod bounds every integer. In a request that is a rule; in a response it is noise.
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
