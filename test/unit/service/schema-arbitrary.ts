import fc from "fast-check";
import * as z from "zod";

/** The JSON Schema keywords in requests of the OpenAPI document. Another keyword is an error. */
export const schemaNode = z.strictObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  examples: z.array(z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  format: z.string().optional(),
  pattern: z.string().optional(),
  default: z.unknown().optional(),
  minLength: z.int().optional(),
  maxLength: z.int().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  required: z.array(z.string()).optional(),
  get anyOf() {
    return z.array(schemaNode).optional();
  },
  get oneOf() {
    return z.array(schemaNode).optional();
  },
  get items() {
    return schemaNode.optional();
  },
  get properties() {
    return z.record(z.string(), schemaNode).optional();
  },
  get propertyNames() {
    return schemaNode.optional();
  },
  get additionalProperties(): z.ZodOptional<
    z.ZodUnion<readonly [z.ZodBoolean, typeof schemaNode]>
  > {
    return z.union([z.boolean(), schemaNode]).optional();
  },
});

export type SchemaNode = z.output<typeof schemaNode>;

export interface Around {
  /** `components.schemas` of the document. */
  readonly components: Readonly<Record<string, unknown>>;
  /** Ids of existing resources by field name. Without them almost every request would answer 404. */
  readonly known: ReadonlyMap<string, readonly unknown[]>;
}

/** A schema node and the name of its field. */
interface Field {
  readonly node: SchemaNode;
  readonly name: string;
  readonly around: Around;
}

/**
 * Any character except half an emoji, which has no UTF-8 form. fast-check's own unit "binary" is the same, but takes a
 * second to create.
 */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7_ff }), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }))
  .map((point) => String.fromCodePoint(point));

const anyText = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: anyCharacter, minLength, maxLength }),
    fc.string({ unit: "grapheme-ascii", minLength, maxLength }),
  );

const hex = (length: number) =>
  fc.string({
    unit: fc.constantFrom(..."0123456789abcdefABCDEF"),
    minLength: length,
    maxLength: length,
  });

const anyUuid = fc.tuple(hex(8), hex(4), hex(4), hex(4), hex(12)).map((parts) => parts.join("-"));

const inCidrForm = (address: fc.Arbitrary<string>, bits: number): fc.Arbitrary<string> =>
  fc.tuple(address, fc.integer({ min: 0, max: bits })).map((parts) => parts.join("/"));

const anyInstant = fc
  .date({
    noInvalidDate: true,
    min: new Date("0000-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59Z"),
  })
  .map((date) => date.toISOString());

const BY_FORMAT: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.oneof(fc.uuid(), anyUuid),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
  cidrv4: inCidrForm(fc.ipV4(), 32),
  cidrv6: inCidrForm(fc.ipV6(), 128),
  date: anyInstant.map((instant) => instant.slice(0, 10)),
  "date-time": anyInstant,
};

const textOf = (node: SchemaNode): fc.Arbitrary<unknown> => {
  const { format, pattern, minLength = 0, maxLength } = node;
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, "u"));
  if (format !== undefined) {
    const arbitrary = BY_FORMAT[format];
    if (arbitrary === undefined) throw new Error(`format ${format}: not supported; add it here`);
    return arbitrary;
  }
  if (maxLength === undefined) return anyText(minLength, 40);
  return fc.oneof(anyText(minLength, maxLength), fc.constantFrom("x", "😀").map(repeat(maxLength)));
};

const repeat = (times: number) => (text: string) => text.repeat(times);

/** Integers at which parsers lose digits, and the maximum. */
const UINT64_EDGES = [0n, 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n];

/** The document has no maximum, so some values exceed the format. */
const anyUint64 = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...UINT64_EDGES) },
  { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 2n ** 64n, max: 2n ** 65n }) },
);

const anyInt64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 0n),
);

const integerOf = ({ format, minimum, maximum }: SchemaNode): fc.Arbitrary<unknown> => {
  if (format === "uint64") return anyUint64;
  if (format === "int64") return anyInt64;
  const min = minimum ?? Number.MIN_SAFE_INTEGER;
  const max = maximum ?? Number.MAX_SAFE_INTEGER;
  return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max));
};

const listOf = ({ node, ...field }: Field): fc.Arbitrary<unknown> =>
  fc.array(arbitraryOf({ ...field, node: node.items ?? {} }), { maxLength: 4 });

const objectOf = ({ node, around }: Field): fc.Arbitrary<unknown> => {
  const { properties = {}, required = [], propertyNames, additionalProperties } = node;
  if (typeof additionalProperties === "object") {
    const key = arbitraryOf({ node: propertyNames ?? { type: "string" }, name: "", around });
    const value = arbitraryOf({ node: additionalProperties, name: "", around });
    return fc.dictionary(key.map(String), value, { maxKeys: 4, noNullPrototype: true });
  }
  const fields = Object.entries(properties).map(([name, inner]) => [
    name,
    arbitraryOf({ node: inner, name, around }),
  ]);
  const model: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(fields);
  return fc.record(model, { requiredKeys: required, noNullPrototype: true });
};

const ofType = (type: string, field: Field): fc.Arbitrary<unknown> => {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "string":
      return textOf(field.node);
    case "integer":
      return integerOf(field.node);
    case "array":
      return listOf(field);
    case "object":
      return objectOf(field);
    default:
      throw new Error(`type ${type}: not supported; add it here`);
  }
};

const UUID = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i;

const fits = ({ type, pattern, format }: SchemaNode, value: unknown): boolean => {
  if (typeof value === "number") return type === "integer" && format !== "uint64";
  if (typeof value !== "string" || ![type].flat().includes("string")) return false;
  if (pattern !== undefined) return new RegExp(pattern, "u").test(value);
  return format === undefined || (format === "uuid" && UUID.test(value));
};

const single = (field: Field): fc.Arbitrary<unknown> => {
  const { node, name, around } = field;
  if (node.enum !== undefined) return fc.constantFrom(...node.enum);
  if (node.const !== undefined) return fc.constant(node.const);
  const random = fc.oneof(...[node.type ?? []].flat().map((type) => ofType(type, field)));
  const known = (around.known.get(name) ?? []).filter((value) => fits(node, value));
  if (known.length === 0) return random;
  return fc.oneof(
    { weight: 1, arbitrary: random },
    { weight: 3, arbitrary: fc.constantFrom(...known) },
  );
};

const arbitraryOf = (field: Field): fc.Arbitrary<unknown> => {
  const { node, around } = field;
  if (node.$ref !== undefined) {
    const name = node.$ref.replace("#/components/schemas/", "");
    return arbitraryOf({ ...field, node: schemaNode.parse(around.components[name]) });
  }
  const branches = node.anyOf ?? node.oneOf;
  return branches === undefined
    ? single(field)
    : fc.oneof(...branches.map((branch) => arbitraryOf({ ...field, node: branch })));
};

/** Values that the schema accepts. Cross-field rules are not part of a schema. */
export const valuesOf = (node: SchemaNode, name: string, around: Around): fc.Arbitrary<unknown> =>
  arbitraryOf({ node, name, around });
