import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createOpenApi } from "../../../lib/contract/openapi.ts";
import { errorBody, type RefusalCode, RefusedError } from "../../../lib/service/errors.ts";
import { startService } from "../service/harness.ts";

const media = z.object({
  "application/json": z.object({ schema: z.looseObject({}), example: z.unknown() }),
});
const response = z.object({ $ref: z.string().optional(), content: media.optional() });
const operationSchema = z.object({
  operationId: z.string(),
  tags: z.tuple([z.enum(["cloud", "storage", "streaming"])]),
  parameters: z
    .array(
      z.object({
        in: z.enum(["path", "query"]),
        name: z.string(),
        required: z.boolean().default(false),
        example: z.unknown().optional(),
        schema: z.looseObject({ examples: z.array(z.unknown()).default([]) }),
      }),
    )
    .default([]),
  requestBody: z.object({ content: media }).optional(),
  responses: z.record(z.string(), response),
});
const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.object({ responses: z.record(z.string(), response) }),
});

const document = createOpenApi();
const { paths, components } = documentSchema.parse(document);

const OPERATIONS = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
);
type Operation = (typeof OPERATIONS)[number];

// The document's own patterns are checked by the validator of OpenAPI; formats only name a type here.
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(JSON.parse(JSON.stringify(document)), "openapi");

/** Rules that the value breaks. References of a schema lead into the document. */
const problemsOf = (schema: object, value: unknown): readonly unknown[] => {
  expect(value).toBeDefined();
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'));
  const validate = ajv.compile(absolute);
  validate(value);
  return validate.errors ?? [];
};

const responseOf = ({ responses }: Operation, status: string) => {
  const { $ref, content } = responses[status] ?? {};
  return $ref === undefined ? content : components.responses[$ref.split("/").at(-1) ?? ""]?.content;
};

/** Statuses of errors, and the refusal of the service that the example shows. */
const REFUSALS: Readonly<Record<string, RefusalCode>> = {
  400: "invalid",
  401: "token-not-valid",
  403: "forbidden",
  404: "not-found",
  409: "conflict",
  413: "too-large",
  415: "unsupported-media-type",
  429: "too-many-requests",
};

describe.each(OPERATIONS)("the examples of $operationId", (operation) => {
  test("follow the schemas of its parameters: sent for required ones, shown for the others", () => {
    for (const { name, required, example, schema } of operation.parameters) {
      const [shown] = schema.examples;
      expect([example !== undefined, shown !== undefined], name).toEqual([required, !required]);
      expect(problemsOf(schema, required ? example : shown), name).toEqual([]);
    }
  });

  test("follow the schema of its request body", () => {
    const body = operation.requestBody?.content["application/json"];
    expect(body ? problemsOf(body.schema, body.example) : []).toEqual([]);
  });

  test("follow the schema of each reply", () => {
    const [success, ...errors] = Object.keys(operation.responses);
    expect(success).toMatch(/^20[04]$/);
    expect(errors).toEqual(Object.keys(REFUSALS));
    for (const status of Object.keys(operation.responses)) {
      const reply = responseOf(operation, status)?.["application/json"];
      expect(reply === undefined, status).toBe(status === "204");
      expect(reply ? problemsOf(reply.schema, reply.example) : [], status).toEqual([]);
    }
  });

  test("are requests that succeed on the built-in state", async () => {
    const { send } = await startService();
    const sent = operation.parameters.filter(({ required }) => required);
    const path = sent.reduce(
      (template, { name, example }) => template.replace(`{${name}}`, String(example)),
      operation.path,
    );
    const query = sent
      .filter((parameter) => parameter.in === "query")
      .map(({ name, example }) => `${name}=${example}`);

    const { status } = await send(operation.method.toUpperCase(), `${path}?${query.join("&")}`, {
      body: operation.requestBody?.content["application/json"].example,
    });

    expect(String(status)).toBe(Object.keys(operation.responses)[0]);
  });
});

test.each(Object.entries(REFUSALS))(
  "the example of an error %s has the form of the service's own error %s",
  (status, code) => {
    const [operation] = OPERATIONS.filter(({ tags }) => tags[0] === "cloud");
    const example = operation && responseOf(operation, status)?.["application/json"].example;

    const { exception_class } = z.object({ exception_class: z.string() }).parse(example);
    expect(errorBody("cloud", new RefusedError(code, ""), "")).toMatchObject({ exception_class });
    expect(String(new RefusedError(code, "").status)).toBe(status);
  },
);
