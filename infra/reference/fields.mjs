/**
 * Tables of fields in Markdown, generated from JSON Schema. The name of a field is its path: `changes[].name` is the
 * field `name` of each entry of the list `changes`.
 */

const quoted = (value) => `\`${value}\``;

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** Reports whether a schema accepts any JSON value; only such schemas have a reference. */
const isAnyJson = (schema) => schema.$ref !== undefined;

const alternatives = (schema) => schema.anyOf ?? schema.oneOf ?? [];
const isNull = (schema) => schema.type === "null";

/** The range of a number or of a length, such as `1 to 64`; undefined without limits. */
const range = (least, most) => {
  if (least !== undefined && most !== undefined) return `${grouped(least)} to ${grouped(most)}`;
  if (most !== undefined) return `at most ${grouped(most)}`;
  return least === undefined ? undefined : `at least ${grouped(least)}`;
};

const entries = (limits) => (limits.endsWith(" 1") ? "entry" : "entries");

const FORMATS = {
  "date-time": "time (ISO 8601)",
  uri: "URL",
  uuid: "UUID",
  ipv4: "IPv4 address",
  ipv6: "IPv6 address",
};

const textType = ({ format, minLength, maxLength }) => {
  if (FORMATS[format]) return FORMATS[format];
  if (minLength === 1 && maxLength === undefined) return "string, not empty";
  const length = range(minLength, maxLength);
  return length ? `string (${length} characters)` : "string";
};

const NUMBERS = { int64: "integer (64 bits)", uint64: "integer (64 bits, unsigned)" };

const numberType = ({ type, format, minimum, exclusiveMinimum, maximum }) => {
  if (NUMBERS[format]) return NUMBERS[format];
  const limits = range(exclusiveMinimum === 0 ? 1 : minimum, maximum);
  return limits ? `${type} (${limits})` : type;
};

const listType = ({ items = {}, minItems, maxItems }) => {
  const limits = range(minItems, maxItems);
  const type = typeOf(items);
  const list = / or |, /.test(type)
    ? `list; each entry ${type}`
    : `list of ${type.replace(/^(string|integer|number|object|UUID)\b/, "$1s")}`;
  return limits ? `${list} (${limits} ${entries(limits)})` : list;
};

const mapType = ({ additionalProperties, properties }) => {
  const isMap =
    !properties &&
    additionalProperties &&
    Object.keys(additionalProperties).length > 0 &&
    !isAnyJson(additionalProperties);
  return isMap ? "map" : "object";
};

const distinct = (texts) => [...new Set(texts)];

/** Description of a type with its limits and values. */
const typeOf = (schema) => {
  if (isAnyJson(schema)) return "any JSON";
  if (schema.const !== undefined) return quoted(schema.const);
  if (schema.enum) {
    const values = distinct(schema.enum.map(quoted));
    if (schema.meanings) return "enum";
    return values.length > 2 ? `one of ${values.join(", ")}` : values.join(" or ");
  }
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  switch (schema.type) {
    case "string":
      return textType(schema);
    case "integer":
    case "number":
      return numberType(schema);
    case "array":
      return listType(schema);
    case "object":
      return mapType(schema);
    case undefined:
      return distinct(alternatives(schema).map(typeOf)).join(" or ") || "any JSON";
    default:
      return schema.type;
  }
};

const sentence = (text) => {
  // A name such as `names:` keeps its first letter.
  const capitalized = text.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
  return /[.:;]$/.test(capitalized) ? capitalized : `${capitalized}.`;
};

const descriptionOf = (schema) => {
  const meanings = Object.entries(schema.meanings ?? {});
  return [
    ...(schema.description ? [sentence(schema.description)] : []),
    ...(schema.default === undefined ? [] : [`Default: ${quoted(schema.default)}.`]),
    ...meanings.map(([value, meaning]) => `<br>${quoted(value)}: ${meaning}.`),
  ].join(" ");
};

/** Lists the object schemas of a value with their paths. */
const objectsIn = (schema, path) => {
  if (isAnyJson(schema)) return [];
  if (schema.properties) return [{ path, schema }];
  if (schema.type === "array" && schema.items) return objectsIn(schema.items, `${path}[]`);
  return alternatives(schema)
    .filter((each) => !isNull(each))
    .flatMap((each) => objectsIn(each, path));
};

/** Merges the schemas that one field has in several variants of its object. */
const merged = (schemas) => {
  const [first, ...others] = distinct(schemas.map((each) => JSON.stringify(each))).map((text) =>
    JSON.parse(text),
  );
  if (others.length === 0) return first;
  return { anyOf: [first, ...others], description: first.description };
};

/** Name of the field, such as `type`, with a different constant in each variant of an object. */
const discriminatorOf = (variants) =>
  variants.length < 2
    ? undefined
    : Object.keys(variants[0].properties).find((name) =>
        variants.every(({ properties }) => properties[name]?.const !== undefined),
      );

/** Presence of a field, with the variants that have it if its object has several. */
const presenceOf = (name, variants, { required, optional }) => {
  const having = variants.filter(({ properties }) => properties[name]);
  const isRequired = having.every((variant) => (variant.required ?? []).includes(name));
  const presence = isRequired ? required : optional;
  if (having.length === variants.length) return presence;
  const discriminator = discriminatorOf(variants);
  if (discriminator === undefined) return optional;
  const values = having.map(({ properties }) => quoted(properties[discriminator].const));
  return `${presence} with ${quoted(discriminator)} ${values.join(" or ")}`;
};

/**
 * Lists the fields of a schema, nested ones included, in the order of the schema.
 * @param words for the presence of a field: `required`, `optional`
 * @returns rows of path, type, presence and description
 */
const fieldsOf = (schema, words, path = "") => {
  const byPath = new Map();
  for (const object of objectsIn(schema, path)) {
    byPath.set(object.path, [...(byPath.get(object.path) ?? []), object.schema]);
  }
  return [...byPath].flatMap(([place, variants]) => {
    const names = distinct(variants.flatMap((variant) => Object.keys(variant.properties)));
    return names.flatMap((name) => {
      const field = merged(variants.flatMap(({ properties }) => properties[name] ?? []));
      const fieldPath = place === "" ? name : `${place}.${name}`;
      const presence = presenceOf(name, variants, words);
      const row = [quoted(fieldPath), typeOf(field), presence, descriptionOf(field)];
      return [row, ...fieldsOf(field, words, fieldPath)];
    });
  });
};

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** A table in Markdown. */
export const table = (headings, rows) =>
  [headings, headings.map(() => "---"), ...rows]
    .map((row) => `| ${row.map(cell).join(" | ")} |`)
    .join("\n");

/** A table of all fields of a schema. */
export const fieldTable = (schema, { heading, ...words }) =>
  table([heading, "Type", "Presence", "Description"], fieldsOf(schema, words));

const MAX_COLUMNS = 120;

/** Wraps a paragraph at 120 columns. */
export const wrapped = (text) => {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line.length + word.length >= MAX_COLUMNS) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join("\n");
};

const MAX_ONE_LINE = 100;

const oneLine = (value) =>
  JSON.stringify(value, undefined, 1)
    .replaceAll(/\n\s*/g, " ")
    .replaceAll("[ ", "[")
    .replaceAll(" ]", "]");

/** Formats JSON with each short list or object on one line. */
export const json = (value, indent = "") => {
  const short = oneLine(value);
  if (value === null || typeof value !== "object") return short;
  if (indent !== "" && indent.length + short.length <= MAX_ONE_LINE) return short;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const parts = Array.isArray(value)
    ? value.map((entry) => json(entry, inner))
    : Object.entries(value).map(
        ([name, field]) => `${JSON.stringify(name)}: ${json(field, inner)}`,
      );
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(",\n")}\n${indent}${close}`;
};

/** A fenced block. */
export const block = (info, text) => `\`\`\`${info}\n${text.trimEnd()}\n\`\`\``;

/** The first line of a generated page. */
export const GENERATED = "<!-- Generated by `npm run generate`; change the schemas instead. -->";
