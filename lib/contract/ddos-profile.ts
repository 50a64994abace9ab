import * as z from "zod";

/**
 * Limits of an answer are noted, not enforced: a reply that breaks one is still the provider's, and
 * refusing to read it would help nobody. The service enforces them on its own state.
 */
const atMost = (maxLength: number) => z.string().meta({ maxLength });

const templateField = {
  id: z.int(),
  name: atMost(30),
  description: atMost(255).nullable(),
  default: z.unknown().optional(),
  field_type: z.string().nullable(),
  required: z.boolean().nullable(),
  validation_schema: z.unknown().optional(),
};

/** The DDoS profile of an instance. Exactly one of `value` and `field_value` says what is configured. */
export const ddosProfileSchema = z.looseObject({
  id: z.int(),
  fields: z.array(
    z.looseObject({
      ...templateField,
      base_field: z.int(),
      field_name: z.string().nullable().optional(),
      value: z.unknown().optional(),
      field_value: z.unknown().optional(),
    }),
  ),
  options: z.looseObject({ active: z.boolean(), bgp: z.boolean() }),
  profile_template: z
    .looseObject({
      id: z.int(),
      name: atMost(100),
      description: z.string().nullable(),
      fields: z.array(z.looseObject(templateField)),
    })
    .nullable(),
  profile_template_description: z.string().nullable(),
  protocols: z
    .array(z.looseObject({ port: z.string(), protocols: z.array(z.string()) }))
    .nullable(),
  site: atMost(50).nullable(),
  status: z
    .looseObject({ error_description: z.string().nullable(), status: z.string() })
    .nullable(),
});
