import * as z from "zod";
import { type OwnRule, ownRulesOf } from "../contract/own-rules.ts";

/** JSON Schema of one part of a request, as far as a person needs it, with the contract's rules. */
export interface SchemaNode {
  /** Several when null is one of them. */
  readonly type?: string | readonly string[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly format?: string | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minLength?: number | undefined;
  readonly items?: SchemaNode | undefined;
  readonly anyOf?: readonly SchemaNode[] | undefined;
  readonly oneOf?: readonly SchemaNode[] | undefined;
  readonly properties?: Readonly<Record<string, SchemaNode>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly propertyNames?: SchemaNode | undefined;
  readonly additionalProperties?: SchemaNode | false | undefined;
  readonly ownRules?: readonly OwnRule[] | undefined;
}

const nodeSchema: z.ZodType<SchemaNode> = z.lazy(() =>
  z.looseObject({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    format: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    items: nodeSchema.optional(),
    anyOf: z.array(nodeSchema).optional(),
    oneOf: z.array(nodeSchema).optional(),
    properties: z.record(z.string(), nodeSchema).optional(),
    required: z.array(z.string()).optional(),
    propertyNames: nodeSchema.optional(),
    additionalProperties: z.union([nodeSchema, z.literal(false)]).optional(),
    ownRules: z
      .array(z.object({ field: z.string().optional(), text: z.string(), isWhole: z.boolean() }))
      .optional(),
  }),
);

/** The schema of a place with whatever the contract says in words. */
export const nodeOf = (schema: z.ZodType): SchemaNode =>
  nodeSchema.parse(
    z.toJSONSchema(schema, {
      io: "output",
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const ownRules = ownRulesOf(zodSchema);
        if (ownRules.length > 0) jsonSchema.ownRules = ownRules;
      },
    }),
  );
