import * as z from "zod";
import type { Family } from "./operation.ts";

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
