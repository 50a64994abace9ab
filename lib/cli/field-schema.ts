import * as z from "zod";
import { unlimitedText } from "../contract/values.ts";

/** A rule in the contract's own words, about the node itself or about a field of it. */
interface OwnRule {
  readonly field?: string | undefined;
  readonly text: string;
  /** Whether it says what the value is, and not only what more it has to keep to. */
  readonly isWhole: boolean;
}

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
    additionalProperties: z.union([nodeSchema, z.literal(false)]).optional(),
    ownRules: z
      .array(z.object({ field: z.string().optional(), text: z.string(), isWhole: z.boolean() }))
      .optional(),
  }),
);

/** What every text has to keep to says nothing about one field. */
const OF_EVERY_TEXT = new Set<unknown>(unlimitedText._zod.def.checks);

type TellError = (issue: { readonly code: string; readonly input: unknown }) => unknown;

const wordedSchema = z.looseObject({
  error: z.custom<TellError>((value) => typeof value === "function").optional(),
});

/** What a definition of a type or a check says when it is broken, in words of ours. */
const textOf = (definition: unknown): string | undefined => {
  // Any value that is there: without one, some rules only say "required".
  const told = wordedSchema.parse(definition).error?.({ code: "custom", input: "" });
  return typeof told === "string" ? told : undefined;
};

const pathSchema = z.looseObject({ path: z.tuple([z.string()]) });

const ownRulesOf = (schema: z.core.$ZodType): readonly OwnRule[] => {
  const { def } = schema._zod;
  const checks = (def.checks ?? []).filter((check) => !OF_EVERY_TEXT.has(check));
  const whole = textOf(def);
  return [
    ...(whole === undefined ? [] : [{ text: whole, isWhole: true }]),
    ...checks.flatMap((check) => {
      const text = textOf(check._zod.def);
      if (text === undefined) return [];
      const field = pathSchema.safeParse(check._zod.def).data?.path[0];
      return [{ field, text, isWhole: check._zod.def.check === "string_format" }];
    }),
  ];
};

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
