import * as z from "zod";
import { text } from "../../contract/values.ts";

const templateField = {
  id: z.int(),
  name: text(30),
  description: text(255).nullable(),
  default: z.unknown().optional(),
  field_type: z.enum(["int", "bool", "str"]).nullable(),
  required: z.boolean().nullable(),
  validation_schema: z.unknown().optional(),
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const configuredField = z
  .strictObject({
    ...templateField,
    base_field: z.int(),
    field_name: z.string().nullable().optional(),
    value: z.unknown().optional(),
    field_value: z.unknown().optional(),
  })
  .refine(({ value, field_value }) => isGiven(value) !== isGiven(field_value), {
    path: ["value"],
    error: "give exactly one of value and field_value",
  });

/** The profile with the document's limits, which no request can break because it is only answered. */
export const ddosProfileRecord = z.strictObject({
  id: z.int(),
  fields: z.array(configuredField),
  options: z.strictObject({ active: z.boolean(), bgp: z.boolean() }),
  profile_template: z
    .strictObject({
      id: z.int(),
      name: text(100),
      description: z.string().nullable(),
      fields: z.array(z.strictObject(templateField)),
    })
    .nullable(),
  profile_template_description: z.string().nullable(),
  protocols: z
    .array(z.strictObject({ port: z.string(), protocols: z.array(z.string()) }))
    .nullable(),
  site: text(50).nullable(),
  status: z
    .strictObject({
      error_description: z.string().nullable(),
      status: text(30).min(3),
    })
    .nullable(),
});
