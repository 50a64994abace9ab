import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { OPERATION_EXAMPLES } from "../contract/operation-examples.ts";
import {
  crossRules,
  nodeOf,
  type PLACES,
  ruleOf,
  type SchemaNode,
  typeOf,
  variantsOf,
} from "../contract/operation-fields.ts";
import { COMMANDED } from "../contract/operations.ts";
import type { Problem } from "../contract/problem.ts";
import { readRequest } from "../engine/read-request.ts";
import type { RequestContext } from "../engine/request.ts";
import { commandRequestedSchema } from "../events/requests.ts";

/** A field of a form. `name` is the key in its object; an element of a list or map has the name of the list. */
const fieldSchema = z.object({
  name: z.string(),
  required: z.boolean(),
  /** Whether null is a value of its own, which differs from an absent field. */
  nullable: z.boolean(),
  /** A value that no page, log or command line may show. */
  secret: z.boolean(),
  /** `uint64`: sent as decimal text, because JSON parsers round numbers of that size. */
  control: z.enum(["text", "integer", "uint64", "boolean", "choice", "object", "list", "map"]),
  /** Type and limits in words. */
  rule: z.string(),
  description: z.string().optional(),
  /** Format of the value on the command line. */
  type: z.enum(["text", "number", "true|false", "json"]),
  /** Values of a choice. */
  options: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
  example: z.json().optional(),
  /** Fields of an object. */
  get fields() {
    return z.array(fieldSchema).optional();
  },
  /** Elements of a list, or values of a map. */
  get item() {
    return fieldSchema.optional();
  },
});

export type FormField = z.output<typeof fieldSchema>;

const formSchema = z.object({
  id: z.string(),
  summary: z.string(),
  reference: z.string(),
  /** Notes that matter before sending. */
  notes: z.array(z.string()),
  params: z.array(fieldSchema),
  query: z.array(fieldSchema),
  /** Absent for an operation without a body. */
  body: z.array(fieldSchema).optional(),
  example: z.record(z.string(), z.json()),
});

export const formsSchema = z.object({
  /** Fields of every command. */
  common: z.array(fieldSchema),
  operations: z.array(formSchema),
});

export type OperationForm = z.output<typeof formSchema>;
export type Forms = z.output<typeof formsSchema>;

/** The node without its null variant, and whether it has one. */
const withoutNull = (
  node: SchemaNode,
): { readonly node: SchemaNode; readonly nullable: boolean } => {
  if (Array.isArray(node.type)) {
    const types = node.type.filter((type) => type !== "null");
    const [type] = types;
    return { node: { ...node, type }, nullable: types.length < node.type.length };
  }
  const variants = variantsOf(node);
  const others = variants.filter(({ type }) => type !== "null");
  const [only, ...more] = others;
  return only && more.length === 0
    ? { node: only, nullable: others.length < variants.length }
    : { node, nullable: others.length < variants.length };
};

const optionSchema = z.array(z.union([z.string(), z.number(), z.boolean()]));

const controlOf = (node: SchemaNode): FormField["control"] => {
  if (node.format === "uint64") return "uint64";
  if (node.enum ?? node.const !== undefined) return "choice";
  if (node.type === "array") return "list";
  if (node.properties) return "object";
  if (node.type === "object") return "map";
  if (node.type === "boolean") return "boolean";
  return node.type === "integer" ? "integer" : "text";
};

interface Place {
  readonly name: string;
  readonly required: boolean;
  readonly example: unknown;
  readonly secret: boolean;
  /** Rules of the enclosing object that name this field. */
  readonly rules: readonly string[];
}

const memberOf = (value: unknown, key: string): unknown =>
  Object.entries(value ?? {}).find(([name]) => name === key)?.[1];

/** Parts of a field that depend on its control. */
const insideOf = (node: SchemaNode, place: Place): Partial<FormField> => {
  const { name, example, secret } = place;
  const inner = { name, required: true, secret, rules: [] };
  switch (controlOf(node)) {
    case "choice":
      return { options: optionSchema.parse(node.enum ?? [node.const]) };
    case "object":
      return { fields: fieldsOf(node, example, () => secret) };
    case "list":
      return { item: fieldOf(node.items ?? {}, { ...inner, example: memberOf(example, "0") }) };
    case "map":
      return { item: fieldOf(node.additionalProperties || {}, { ...inner, example: undefined }) };
    default:
      return {};
  }
};

const fieldOf = (outer: SchemaNode, place: Place): FormField => {
  const { node, nullable } = withoutNull(outer);
  const { name, required, secret, rules } = place;
  const description = outer.description ?? node.description;
  const example = z.json().optional().parse(place.example);
  return {
    name,
    required,
    nullable,
    secret,
    control: controlOf(node),
    rule: [ruleOf(outer), ...rules].join("; "),
    type: typeOf(outer),
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
    ...insideOf(node, place),
  };
};

const fieldsOf = (
  node: SchemaNode,
  example: unknown,
  isSecret: (name: string) => boolean,
): FormField[] =>
  Object.entries(node.properties ?? {}).map(([name, child]) =>
    fieldOf(child, {
      name,
      required: node.required?.includes(name) ?? false,
      example: memberOf(example, name),
      secret: isSecret(name),
      rules: crossRules(node, name),
    }),
  );

const notesOf = ({ answers, deprecated, follows }: Mutation): string[] => [
  ...(follows ? ["Changes nothing: Skyhook only polls the task until it ends."] : []),
  ...(deprecated ? [`Deprecated by the provider; successor: ${deprecated.successorPath}`] : []),
  ...(answers === "tasks" && !follows
    ? ["The provider answers with tasks, which Skyhook follows to their end."]
    : []),
];

const formOf = (operation: (typeof COMMANDED)[number]): OperationForm => {
  const { id, summary, reference } = operation;
  const example = OPERATION_EXAMPLES[id];
  const { secrets: named }: Mutation = operation;
  const secrets = new Set<string>(named);
  const fieldsAt = (place: (typeof PLACES)[number]): FormField[] =>
    fieldsOf(nodeOf(operation[place]), memberOf(example, place), (name) =>
      secrets.has(`${place}.${name}`),
    );
  return {
    id,
    summary,
    reference,
    notes: notesOf(operation),
    params: fieldsAt("params"),
    query: fieldsAt("query"),
    ...(operation.body instanceof z.ZodObject && { body: fieldsAt("body") }),
    example: z.record(z.string(), z.json()).parse(example),
  };
};

/** Fields of a command that the form asks for beside those of its operation, in this order. */
const COMMON = ["account", "deadline", "after", "guards"] as const;

const commonFields = (): FormField[] => {
  const { metadata, data } = commandRequestedSchema.shape;
  const ofData = fieldsOf(nodeOf(data), {}, () => false);
  const ofMetadata = fieldsOf(nodeOf(metadata), {}, () => false);
  return [
    ...COMMON.flatMap((name) => ofData.filter((field) => field.name === name)),
    ...ofMetadata.filter(({ name }) => name === "commandId"),
  ];
};

/** A form for each operation that a command may name, from the schemas that check requests. */
export const createForms = (): Forms => ({
  common: commonFields(),
  operations: COMMANDED.map(formOf),
});

/** Problems of a request; none: it may be sent. Paths are relative to its data, such as `body.scale.min`. */
export interface CheckAnswer {
  readonly problems: readonly Problem[];
}

/**
 * Checks a request as intake does, without sending it. No problem contains a value.
 * @param detail detail of a `CommandRequested` of any shape
 */
export const checkRequest = (
  detail: unknown,
  context: Pick<RequestContext, "sender" | "access">,
): CheckAnswer => {
  const read = readRequest(detail, { ...context, eventId: "form" });
  return { problems: read.kind === "valid" ? [] : read.rejection.problems };
};
