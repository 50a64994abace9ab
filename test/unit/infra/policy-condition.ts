import * as z from "zod";

/** Facts of a request by condition key. A key with several values has a list of them. */
export type RequestContext = Readonly<Record<string, string | readonly string[]>>;

const conditionSchema = z.record(z.string(), z.record(z.string(), z.unknown()));
const valuesSchema = z
  .union([z.string(), z.boolean().transform(String), z.array(z.string())])
  .transform((value) => [value].flat());

/** The name of what a `Ref` or an ARN stands for. */
const referenceSchema = z.union([
  z.strictObject({ Ref: z.string() }).transform(({ Ref }) => Ref),
  z
    .strictObject({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) })
    .transform(({ "Fn::GetAtt": path }) => path.join(".")),
]);

/** A text with `${NAME}` for what its name stands for. */
const textSchema = z
  .strictObject({ "Fn::Sub": z.string() })
  .transform(({ "Fn::Sub": text }) => text);

type Test = (given: readonly string[] | undefined, wanted: readonly string[]) => boolean;

const is =
  (wanted: readonly string[]) =>
  (value: string): boolean =>
    wanted.includes(value);

const escaped = (text: string): string => text.replaceAll(/[^\w]/g, "\\$&");

/** `*` in a pattern of IAM is any text, also none. */
const isLike =
  (wanted: readonly string[]) =>
  (value: string): boolean =>
    wanted.some((pattern) =>
      new RegExp(`^${pattern.split("*").map(escaped).join(".*")}$`, "s").test(value),
    );

/** Operators of IAM that our policies use, as its user guide defines them. */
const TESTS: Readonly<Record<string, Test>> = {
  StringEquals: (given, wanted) => given?.some(is(wanted)) ?? false,
  // "If the key is not present, the condition evaluates to true."
  StringNotEqualsIfExists: (given, wanted) => !given?.some(is(wanted)),
  // Of several patterns one suffices; * stands for any characters, ":" and "/" included.
  ArnLike: (given, wanted) => given?.some(isLike(wanted)) ?? false,
  // "If the key that you specify is not present, the negated condition is true."
  ArnNotLike: (given, wanted) => !given?.some(isLike(wanted)),
  Bool: (given, wanted) => given?.some(is(wanted)) ?? false,
  BoolIfExists: (given, wanted) => given?.some(is(wanted)) ?? true,
  // Of every value in the request, and so also when there is none.
  "ForAllValues:StringEquals": (given, wanted) => (given ?? []).every(is(wanted)),
  "ForAllValues:StringLike": (given, wanted) => (given ?? []).every(isLike(wanted)),
  "ForAllValues:StringNotEquals": (given, wanted) => !(given ?? []).some(is(wanted)),
  "ForAnyValue:StringEquals": (given, wanted) => (given ?? []).some(is(wanted)),
  Null: (given, wanted) => is(wanted)(String(given === undefined)),
};

/**
 * Whether a statement's condition holds for a request: all of its operators do.
 * @param references what stands for a `Ref` of the template, and for an ARN by `LOGICAL_ID.Arn`
 */
export const conditionHolds = (
  condition: unknown,
  context: RequestContext,
  references: Readonly<Record<string, string>> = {},
): boolean => {
  const resolved: unknown = JSON.parse(JSON.stringify(condition), (_key, value: unknown) => {
    const { data: template } = textSchema.safeParse(value);
    if (template !== undefined) {
      return template.replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => references[name] ?? "");
    }
    const { data: reference } = referenceSchema.safeParse(value);
    return reference === undefined ? value : references[reference];
  });
  return Object.entries(conditionSchema.parse(resolved)).every(([operator, keys]) => {
    const holds = TESTS[operator];
    if (!holds) throw new Error(`no such operator here: ${operator}`);
    return Object.entries(keys).every(([key, wanted]) => {
      const given = context[key];
      return holds(given === undefined ? undefined : [given].flat(), valuesSchema.parse(wanted));
    });
  });
};
