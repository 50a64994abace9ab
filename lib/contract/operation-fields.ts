import * as z from "zod";
import { lazy } from "./lazy.ts";
import type { Operation } from "./operation.ts";
import { ownRulesOf } from "./own-rules.ts";

/** JSON Schema of one part of a request: the keywords that the help shows, and the contract's own rules. */
const nodeSchema = lazy(() => {
  const node = z.looseObject({
    /** A list if null is permitted. */
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    format: z.string().optional(),
    description: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    required: z.array(z.string()).optional(),
    ownRules: z
      .array(z.object({ field: z.string().optional(), text: z.string(), isWhole: z.boolean() }))
      .optional(),
    get items() {
      return node.optional();
    },
    get anyOf() {
      return z.array(node).optional();
    },
    get oneOf() {
      return z.array(node).optional();
    },
    get properties() {
      return z.record(z.string(), node).optional();
    },
    get propertyNames() {
      return node.optional();
    },
    get additionalProperties() {
      return z.union([node, z.literal(false)]).optional();
    },
  });
  return node;
});

export type SchemaNode = z.output<ReturnType<typeof nodeSchema>>;

/** The JSON Schema of a part of a request, with the contract's own rules. */
export const nodeOf = (schema: z.ZodType): SchemaNode =>
  nodeSchema().parse(
    z.toJSONSchema(schema, {
      io: "output",
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const ownRules = ownRulesOf(zodSchema);
        if (ownRules.length > 0) jsonSchema.ownRules = ownRules;
      },
    }),
  );

export type FieldPlace = "params" | "query" | "body";
/** The format of a value on the command line. */
export type FieldType = "text" | "number" | "true|false" | "json";

/** One field of an operation. */
export interface OperationField {
  readonly place: FieldPlace;
  /** Name in its part of the request: dotted inside an object, `[]` for elements of a list. */
  readonly name: string;
  readonly required: boolean;
  readonly type: FieldType;
  /** Its type and limits in words. */
  readonly rule: string;
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  boolean: "true or false",
};

const rangeOf = (min: number | undefined, max: number | undefined): string => {
  const low = min === undefined || min === Number.MIN_SAFE_INTEGER ? undefined : min;
  const high = max === undefined || max === Number.MAX_SAFE_INTEGER ? undefined : max;
  if (low === undefined && high === undefined) return "";
  if (low === undefined) return ` up to ${high}`;
  return high === undefined ? ` from ${low}` : ` ${low} to ${high}`;
};

export const variantsOf = (node: SchemaNode): readonly SchemaNode[] =>
  node.anyOf ?? node.oneOf ?? [];

const choice = (values: readonly unknown[]): string =>
  values.length === 1 ? `always ${values[0]}` : `one of ${values.join(", ")}`;

const mapRule = (names: SchemaNode | undefined, values: SchemaNode): string => {
  const name = names === undefined ? "text" : ruleOf(names);
  const named = name === "text" ? "" : `each name: ${name}; `;
  return `object; ${named}each value: ${ruleOf(values)}`;
};

const plainRule = (node: SchemaNode): string => {
  if (node.format === "uint64") return "whole number 0 to 18446744073709551615";
  if (node.enum) return choice(node.enum);
  if (node.const !== undefined) return choice([node.const]);
  if (node.format === "date-time") return "a time such as 2026-01-31T12:00:00Z";
  if (node.format === "uuid" || node.format === "guid") return "a UUID";
  if (node.type === "array") return `list of ${node.items ? ruleOf(node.items) : "values"}`;
  if (node.type === "object" && node.additionalProperties) {
    return mapRule(node.propertyNames, node.additionalProperties);
  }
  const word = TYPE_WORDS[String(node.type)] ?? String(node.type ?? "any JSON");
  return word + rangeOf(node.minimum, node.maximum) + (node.minLength === 1 ? ", not empty" : "");
};

/** The type and limits of a value: the contract's own text if it has one. */
export const ruleOf = (node: SchemaNode): string => {
  if (Array.isArray(node.type)) {
    const [type] = node.type.filter((name) => name !== "null");
    return `${ruleOf({ ...node, type })}, or null`;
  }
  const variants = [...new Set(variantsOf(node).map(ruleOf))];
  const own = (node.ownRules ?? []).filter(({ field }) => field === undefined);
  const whole = own.find(({ isWhole }) => isWhole && node.format !== "uint64")?.text;
  const basis = variants.length > 0 && node.format !== "uint64" ? inWords(variants) : undefined;
  const more = own.filter(({ isWhole }) => !isWhole).map(({ text }) => text);
  return [whole ?? basis ?? plainRule(node), ...more].join("; ");
};

const inWords = (variants: readonly string[]): string => {
  const others = variants.filter((variant) => variant !== "null");
  return others.join(" or ") + (others.length < variants.length ? ", or null" : "");
};

export const typeOf = (node: SchemaNode): FieldType => {
  const types = [node, ...variantsOf(node)].flatMap(({ type }) => type ?? []);
  if (types.includes("object") || types.includes("array")) return "json";
  if (variantsOf(node).some((variant) => typeOf(variant) === "json")) return "json";
  if (types.includes("boolean")) return "true|false";
  return types.includes("integer") || node.format === "uint64" ? "number" : "text";
};

/** Cross-field rules of an object that name one field, such as a minimum that must not exceed a maximum. */
export const crossRules = (node: SchemaNode, key: string): readonly string[] =>
  (node.ownRules ?? []).filter(({ field }) => field === key).map(({ text }) => text);

const ownFields = (
  node: SchemaNode,
  place: FieldPlace,
  prefix: string,
): readonly OperationField[] =>
  Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const name = `${prefix}${key}`;
    const required = node.required?.includes(key) ?? false;
    const rule = [ruleOf(child), ...crossRules(node, key)].join("; ");
    const field = { place, name, required, type: typeOf(child), rule };
    return [field, ...fieldsIn(child, place, `${name}.`)];
  });

/** The field that distinguishes the variants of a union, such as `type`. */
const discriminatorOf = (variants: readonly SchemaNode[]): string | undefined =>
  Object.keys(variants[0]?.properties ?? {}).find((key) =>
    variants.every(
      ({ properties, required }) =>
        properties?.[key]?.const !== undefined && required?.includes(key),
    ),
  );

const valuesOf = (variants: readonly SchemaNode[], key: string): unknown[] =>
  variants.map(({ properties }) => properties?.[key]?.const);

/** A field of one variant, with a note on the variants that have or require it. */
const amongVariants = (
  field: OperationField,
  key: string,
  variants: readonly SchemaNode[],
): OperationField => {
  const having = variants.filter(({ properties = {} }) => Object.hasOwn(properties, key));
  // The enclosing field names the variants of a deeper field.
  if (having.length === 0) return field;
  const requiring = having.filter(({ required }) => required?.includes(key));
  const required = requiring.length === variants.length;
  const discriminator = discriminatorOf(variants) ?? "";
  if (key === discriminator) {
    const node = { ...variants[0]?.properties?.[key], const: undefined };
    return { ...field, required, rule: ruleOf({ ...node, enum: valuesOf(variants, key) }) };
  }
  if (having.length === variants.length) return { ...field, required };
  const others = having.filter((variant) => !requiring.includes(variant));
  const presence = (word: string, some: readonly SchemaNode[]): readonly string[] =>
    some.length === 0
      ? []
      : [`${word} with ${discriminator} ${valuesOf(some, discriminator).join(", ")}`];
  const rules = [
    field.rule,
    ...presence("required", requiring),
    ...presence(requiring.length > 0 ? "optional" : "only", others),
  ];
  return { ...field, required, rule: rules.join("; ") };
};

/** The fields of all variants, each once, with a note on fields of single variants. */
const variantFields = (
  variants: readonly SchemaNode[],
  place: FieldPlace,
  prefix: string,
): readonly OperationField[] => {
  const objects = variants.filter(({ properties }) => properties !== undefined);
  // One object, or a union inside another one, such as null or a union.
  if (objects.length < 2) return variants.flatMap((variant) => fieldsIn(variant, place, prefix));
  const fields = new Map<string, OperationField>();
  for (const field of objects.flatMap((variant) => fieldsIn(variant, place, prefix))) {
    if (fields.has(field.name)) continue;
    fields.set(field.name, amongVariants(field, field.name.slice(prefix.length), objects));
  }
  return [...fields.values()];
};

/** The fields of a node and of its children, outer before inner. */
const fieldsIn = (
  node: SchemaNode,
  place: FieldPlace,
  prefix: string,
): readonly OperationField[] => [
  ...ownFields(node, place, prefix),
  ...variantFields(variantsOf(node), place, prefix),
  ...(node.items ? fieldsIn(node.items, place, `${prefix.replace(/\.$/, "")}[].`) : []),
];

export const PLACES = ["params", "query", "body"] as const;

/** Every field of an operation with its limits, from the contract. */
export const fieldsOf = (operation: Operation): readonly OperationField[] => {
  const secrets = new Set<string>(operation.kind === "mutation" ? operation.secrets : []);
  return PLACES.flatMap((place) => fieldsIn(nodeOf(operation[place]), place, "")).map((field) =>
    secrets.has(`${field.place}.${field.name}`)
      ? { ...field, rule: `${field.rule}; secret, never shown` }
      : field,
  );
};
