import * as z from "zod";
import { ownRulesOf } from "../contract/own-rules.ts";

/** Rules of a schema that JSON Schema cannot express, in words. */
const rulesInWords = (schema: z.core.$ZodType): string =>
  ownRulesOf(schema)
    .map(({ field, text }) => (field === undefined ? text : `${field}: ${text}`))
    .join("; ");

/**
 * Makes the JSON Schema (draft 2020-12) of a config file, for editors and docs/reference. A schema with
 * several input forms declares the type or alternatives to show in its `meta`.
 */
export const editorSchemaOf = (schema: z.ZodType): object =>
  z.toJSONSchema(schema, {
    target: "draft-2020-12",
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema, zodSchema }) => {
      // A 64-bit number has several types in memory, but only one in a file.
      if (jsonSchema.type !== undefined) delete jsonSchema.anyOf;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      const rules = rulesInWords(zodSchema);
      if (rules !== "" && jsonSchema.enum === undefined) jsonSchema.description ??= rules;
    },
  });
