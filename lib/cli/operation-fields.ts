import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";

export type FieldPlace = "params" | "query" | "body";

/** One field of an operation as a person fills it in. */
export interface OperationField {
  readonly place: FieldPlace;
  /** Name inside its place; dotted for a field of a nested object, `[]` for an element of a list. */
  readonly name: string;
  readonly required: boolean;
  /** Type and limits in words. */
  readonly rule: string;
}

interface SchemaNode {
  /** Several when null is one of them. */
  readonly type?: string | readonly string[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly format?: string | undefined;
  readonly pattern?: string | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly items?: SchemaNode | undefined;
  readonly anyOf?: readonly SchemaNode[] | undefined;
  readonly oneOf?: readonly SchemaNode[] | undefined;
  readonly properties?: Readonly<Record<string, SchemaNode>> | undefined;
  readonly required?: readonly string[] | undefined;
}

const nodeSchema: z.ZodType<SchemaNode> = z.lazy(() =>
  z.looseObject({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    format: z.string().optional(),
    pattern: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    items: nodeSchema.optional(),
    anyOf: z.array(nodeSchema).optional(),
    oneOf: z.array(nodeSchema).optional(),
    properties: z.record(z.string(), nodeSchema).optional(),
    required: z.array(z.string()).optional(),
  }),
);

const rangeOf = (min: number | undefined, max: number | undefined, unit: string): string => {
  const low = min === undefined || min === Number.MIN_SAFE_INTEGER ? undefined : min;
  const high = max === undefined || max === Number.MAX_SAFE_INTEGER ? undefined : max;
  if (low === undefined && high === undefined) return "";
  if (low === undefined) return ` at most ${high}${unit}`;
  return high === undefined ? ` at least ${low}${unit}` : ` ${low} to ${high}${unit}`;
};

const variantsOf = (node: SchemaNode): readonly SchemaNode[] => node.anyOf ?? node.oneOf ?? [];

const ruleOf = (node: SchemaNode): string => {
  if (Array.isArray(node.type)) {
    return node.type
      .map((type) => ruleOf(type === "null" ? { type } : { ...node, type }))
      .join(" or ");
  }
  if (node.format === "uint64") return "integer 0 to 18446744073709551615";
  const variants = variantsOf(node);
  if (variants.length > 0) {
    return [
      ...new Set(variants.map((part) => (part.type === "null" ? "null" : ruleOf(part)))),
    ].join(" or ");
  }
  if (node.enum) return `one of ${node.enum.join(", ")}`;
  if (node.const !== undefined) return String(node.const);
  if (node.type === "array") return `list of ${node.items ? ruleOf(node.items) : "values"}`;
  const range = rangeOf(node.minimum, node.maximum, "");
  const length = rangeOf(node.minLength, node.maxLength, " characters");
  const format = node.format ? ` (${node.format})` : "";
  const pattern = node.pattern && !node.format ? ` like ${node.pattern}` : "";
  return `${node.type ?? "value"}${range}${length}${format}${pattern}`;
};

/** The fields of a node and of everything inside it, outer before inner. */
const fieldsIn = (
  node: SchemaNode,
  place: FieldPlace,
  prefix: string,
): readonly OperationField[] => {
  const own = Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const name = `${prefix}${key}`;
    const required = node.required?.includes(key) ?? false;
    return [{ place, name, required, rule: ruleOf(child) }, ...fieldsIn(child, place, `${name}.`)];
  });
  const inner = [
    ...variantsOf(node).flatMap((variant) => fieldsIn(variant, place, prefix)),
    ...(node.items ? fieldsIn(node.items, place, `${prefix.replace(/\.$/, "")}[].`) : []),
  ];
  const seen = new Set(own.map(({ name }) => name));
  return [...own, ...inner.filter(({ name }) => !seen.has(name) && seen.add(name))];
};

const PLACES = ["params", "query", "body"] as const;

/** Every field of an operation with its limits, as the contract has them. */
export const fieldsOf = (operation: Mutation): readonly OperationField[] =>
  PLACES.flatMap((place) => {
    const json = z.toJSONSchema(operation[place], { io: "output", unrepresentable: "any" });
    return fieldsIn(nodeSchema.parse(json), place, "");
  });
