import * as z from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import type { Family } from "./operation.ts";

/** The error body of each product. At the provider, every key but the text may be missing. */
export const ERROR_BODIES = {
  cloud: z
    .looseObject({
      exception_class: z.string().describe("kind of error, such as ValidationError"),
      message: z.string(),
      request_id: z.string(),
      invalid_fields: z
        .record(z.string(), z.array(z.string()))
        .optional()
        .describe("broken rules by field"),
    })
    .meta({ id: "CloudError" }),
  storage: z.looseObject({ error: z.string() }).meta({ id: "StorageError" }),
  streaming: z.looseObject({ error: z.string() }).meta({ id: "StreamingError" }),
} as const satisfies Record<Family, z.ZodObject>;

export const JSON_TYPE = "application/json";

interface ErrorStatus {
  readonly description: string;
  readonly exceptionClass: string;
  /** Text of the example. */
  readonly message: string;
  readonly invalidFields?: Readonly<Record<string, readonly string[]>>;
  /** Text of the example in the family `storage`, where the other one cannot occur. */
  readonly storageMessage?: string;
}

/** Error statuses of every operation. The text of an error states the broken rule. */
const ERROR_STATUSES: Readonly<Record<string, ErrorStatus>> = {
  400: {
    description: "A value breaks a rule, or the resource is in the wrong state",
    exceptionClass: "ValidationError",
    message: "limit: at least 1",
    invalidFields: { limit: ["at least 1"] },
    storageMessage: "count: not allowed with reaching_used_space; use bytes",
  },
  401: {
    description: "The Authorization header is missing, or its key is unknown or revoked",
    exceptionClass: "token_not_valid",
    message: "authorization: the key is unknown or revoked",
  },
  403: {
    description: "The Host header names neither this machine nor an allowed host",
    exceptionClass: "ForbiddenError",
    message: "host: must be 127.0.0.1, localhost or [::1]",
  },
  404: {
    description: "The resource does not exist, or the key has no access to it",
    exceptionClass: "NotFoundError",
    message: "task not found",
    storageMessage: "event not found",
  },
  409: {
    description: "A running task locks the resource, or the resource exists already",
    exceptionClass: "ConflictError",
    message:
      "task d478ae29-dedc-4869-82f0-96104425f565 locks the container; retry when the task has ended",
    storageMessage:
      "an event with this name, storage_name and bucket_name exists already; change it with PUT",
  },
  413: {
    description: "The body is larger than 1 MiB",
    exceptionClass: "HTTPError",
    message: "body: at most 1048576 bytes",
  },
  415: {
    description: "The content type of the body is not application/json",
    exceptionClass: "HTTPError",
    message: "content-type: must be application/json",
  },
  429: {
    description: "The key has used up its rate limit; Retry-After is the number of seconds to wait",
    exceptionClass: "HTTPError",
    message: "rate limit: 10 requests per second",
  },
};

const exampleOf = (
  family: Family,
  { exceptionClass, message, invalidFields, storageMessage }: ErrorStatus,
): object => {
  if (family === "storage") return { error: storageMessage ?? message };
  if (family === "streaming") return { error: message };
  return {
    exception_class: exceptionClass,
    message,
    request_id: "01a20681496471509fb0ad171fe441f0",
    ...(invalidFields && { invalid_fields: invalidFields }),
  };
};

const refusals = (family: Family): Record<string, ZodOpenApiResponseObject> =>
  Object.fromEntries(
    Object.entries(ERROR_STATUSES).map(([status, described]) => [
      status,
      {
        id: `${family}-${status}`,
        description: described.description,
        content: {
          [JSON_TYPE]: { schema: ERROR_BODIES[family], example: exampleOf(family, described) },
        },
      },
    ]),
  );

/** Response components by product. Operations refer to these objects instead of repeating them. */
export const REFUSALS_OF: Readonly<Record<Family, Record<string, ZodOpenApiResponseObject>>> = {
  cloud: refusals("cloud"),
  storage: refusals("storage"),
  streaming: refusals("streaming"),
};
