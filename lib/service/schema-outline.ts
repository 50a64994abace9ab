import * as z from "zod";

/** The part of JSON Schema that the `/docs` page shows. */
export const nodeSchema = z.object({
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
  required: z.array(z.string()).optional(),
  get items() {
    return nodeSchema.optional();
  },
  get propertyNames() {
    return nodeSchema.optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), nodeSchema]).optional();
  },
  get anyOf() {
    return z.array(nodeSchema).optional();
  },
  get oneOf() {
    return z.array(nodeSchema).optional();
  },
  get properties() {
    return z.record(z.string(), nodeSchema).optional();
  },
});

export type SchemaNode = z.output<typeof nodeSchema>;

/** One field of a schema with its rule in words and the fields inside it. */
export interface OutlineField {
  readonly name: string;
  readonly required: boolean;
  readonly rule: string;
  readonly fields: readonly OutlineField[];
}

const variantsOf = (node: SchemaNode): readonly SchemaNode[] => node.anyOf ?? node.oneOf ?? [];

const numberRange = ({ minimum: low, maximum: high }: SchemaNode): string | undefined => {
  if (low !== undefined && high !== undefined) return `${low} to ${high}`;
  if (low !== undefined) return `at least ${low}`;
  return high === undefined ? undefined : `at most ${high}`;
};

const lengthRange = ({ minLength: low, maxLength: high }: SchemaNode): string | undefined => {
  if (low !== undefined && high !== undefined) return `${low} to ${high} characters`;
  if (low === 1) return "not empty";
  if (low !== undefined) return `at least ${low} characters`;
  return high === undefined ? undefined : `at most ${high} characters`;
};

/** The type of a value in a few words, including null, and its limits. */
interface Rule {
  readonly kind: string;
  readonly details: readonly string[];
}

const given = (...parts: readonly (string | undefined)[]): readonly string[] =>
  parts.filter((part) => part !== undefined);

/** Adds null to a type, after a comma where it could look like one of the words or an entry of the list. */
const orNull = (kind: string): string =>
  kind.includes(", ") || kind.startsWith("list of ") ? `${kind}, or null` : `${kind} or null`;

const kindOf = ({ type, format, enum: words, const: constant }: SchemaNode): string => {
  if (words !== undefined) return `one of ${words.join(", ")}`;
  if (constant !== undefined) return `always ${constant}`;
  const types = [type].flat().filter((one) => one !== undefined && one !== "null");
  const kind = types.join(" or ") || "any JSON value";
  const named = format === undefined ? kind : `${kind} (${format})`;
  return [type].flat().includes("null") ? orNull(named) : named;
};

/** Reports whether additional values follow a rule. A loose object has an empty schema, which allows everything. */
const isRule = (values: SchemaNode["additionalProperties"]): values is SchemaNode =>
  typeof values === "object" && Object.keys(values).length > 0;

const detailsOf = (node: SchemaNode): readonly string[] => {
  const { default: preset, examples, description, pattern, additionalProperties: values } = node;
  return [
    ...given(
      numberRange(node),
      lengthRange(node),
      preset === undefined ? undefined : `default ${preset}`,
      examples && `such as ${examples.join(", ")}`,
      description,
      pattern && `matching ${pattern}`,
    ),
    ...(node.propertyNames?.pattern ? [`each name: ${inWords(ruleOf(node.propertyNames))}`] : []),
    ...(isRule(values) ? [`each value: ${inWords(ruleOf(values))}`] : []),
  ];
};

const ruleOfList = (items: SchemaNode): Rule => {
  const { kind, details } = ruleOf(items);
  const isOne = !kind.includes(" or ") && !kind.includes(", ");
  return { kind: isOne ? `list of ${kind}` : `list of (${kind})`, details };
};

const ruleOfVariants = (variants: readonly SchemaNode[]): Rule => {
  const isNull = ({ type }: SchemaNode): boolean => type === "null";
  const rules = variants.filter((variant) => !isNull(variant)).map(ruleOf);
  const kind = [...new Set(rules.map((rule) => rule.kind))].join(" or ");
  const details = [...new Set(rules.flatMap((rule) => rule.details))];
  return { kind: variants.some(isNull) ? orNull(kind) : kind, details };
};

const ruleOf = (node: SchemaNode): Rule => {
  if (node.$ref) return { kind: node.$ref.slice(node.$ref.lastIndexOf("/") + 1), details: [] };
  const variants = variantsOf(node);
  const own = detailsOf(node);
  if (variants.length === 0 && !node.items) return { kind: kindOf(node), details: own };
  const { kind, details } = node.items ? ruleOfList(node.items) : ruleOfVariants(variants);
  // A description of several types states what the details of each would repeat.
  const types = variants.filter(({ type }) => type !== "null");
  const isDescribed = node.description !== undefined && types.length > 1;
  return { kind, details: isDescribed ? own : [...details, ...own] };
};

const inWords = ({ kind, details }: Rule): string => [kind, ...details].join("; ");

const ownFields = ({ properties = {}, required = [] }: SchemaNode): readonly OutlineField[] =>
  Object.entries(properties).map(([name, node]) => ({
    name,
    required: required.includes(name),
    rule: inWords(ruleOf(node)),
    fields: fieldsOf(node),
  }));

/** The fields of an object, of the entries of a list, or of all variants one after the other. */
export const fieldsOf = (node: SchemaNode): readonly OutlineField[] => [
  ...ownFields(node),
  ...(node.items ? fieldsOf(node.items) : []),
  ...variantsOf(node).flatMap(fieldsOf),
];
