import * as z from "zod";

/** JSON Schema as far as a reader of the page needs it. */
export interface SchemaNode {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly examples?: readonly unknown[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly pattern?: string | undefined;
  readonly default?: unknown;
  readonly items?: SchemaNode | undefined;
  readonly anyOf?: readonly SchemaNode[] | undefined;
  readonly oneOf?: readonly SchemaNode[] | undefined;
  readonly properties?: Readonly<Record<string, SchemaNode>> | undefined;
  readonly required?: readonly string[] | undefined;
}

export const nodeSchema: z.ZodType<SchemaNode> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    format: z.string().optional(),
    description: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    examples: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    pattern: z.string().optional(),
    default: z.unknown().optional(),
    items: nodeSchema.optional(),
    anyOf: z.array(nodeSchema).optional(),
    oneOf: z.array(nodeSchema).optional(),
    properties: z.record(z.string(), nodeSchema).optional(),
    required: z.array(z.string()).optional(),
  }),
);

/** One field of a schema with what is inside it. */
export interface OutlineField {
  readonly name: string;
  readonly required: boolean;
  readonly rule: string;
  readonly fields: readonly OutlineField[];
}

const range = ({ minimum, maximum, minLength, maxLength }: SchemaNode): readonly string[] => [
  ...(minimum !== undefined && maximum !== undefined ? [`${minimum} to ${maximum}`] : []),
  ...(minimum !== undefined && maximum === undefined ? [`at least ${minimum}`] : []),
  ...(minimum === undefined && maximum !== undefined ? [`at most ${maximum}`] : []),
  ...(minLength !== undefined ? [`at least ${minLength} characters`] : []),
  ...(maxLength !== undefined ? [`at most ${maxLength} characters`] : []),
];

const ownRule = (node: SchemaNode): string => {
  const { type, format, const: constant, description, pattern } = node;
  const words = node.enum ?? (constant === undefined ? undefined : [constant]);
  const examples = node.examples && `such as ${node.examples.join(", ")}`;
  const kind = words === undefined ? [type].flat().filter((one) => one !== undefined) : [];
  return [
    [...kind, ...(words ? [`one of ${words.join(", ")}`] : [])].join(" or "),
    ...(format ? [format] : []),
    ...range(node),
    ...(pattern ? [`matching ${pattern}`] : []),
    ...(node.default === undefined ? [] : [`default ${node.default}`]),
    ...(examples ? [examples] : []),
    ...(description ? [description] : []),
  ]
    .filter((part) => part !== "")
    .join(", ");
};

const variantsOf = (node: SchemaNode): readonly SchemaNode[] => node.anyOf ?? node.oneOf ?? [];

const ruleOf = (node: SchemaNode): string => {
  if (node.$ref) return node.$ref.slice(node.$ref.lastIndexOf("/") + 1);
  if (node.items) return `list of: ${ruleOf(node.items)}`;
  const variants = variantsOf(node).map(ruleOf);
  return variants.length > 0 ? [...new Set(variants)].join(" or ") : ownRule(node) || "anything";
};

const ownFields = ({ properties = {}, required = [] }: SchemaNode): readonly OutlineField[] =>
  Object.entries(properties).map(([name, node]) => ({
    name,
    required: required.includes(name),
    rule: ruleOf(node),
    fields: fieldsOf(node),
  }));

/** The fields of an object, of a list's entries, or of all variants one after the other. */
export const fieldsOf = (node: SchemaNode): readonly OutlineField[] => [
  ...ownFields(node),
  ...(node.items ? fieldsOf(node.items) : []),
  ...variantsOf(node).flatMap(fieldsOf),
];
