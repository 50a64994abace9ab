import * as z from "zod";

/** Context of a request: the value or values of each condition key. */
export type RequestContext = Readonly<Record<string, string | readonly string[]>>;

const conditionSchema = z.record(z.string(), z.record(z.string(), z.unknown()));
const valuesSchema = z
  .union([z.string(), z.boolean().transform(String), z.array(z.string())])
  .transform((value) => [value].flat());

/** The name of a reference: a logical id, or `LOGICAL_ID.Arn`. */
const referenceSchema = z.union([
  z.strictObject({ Ref: z.string() }).transform(({ Ref }) => Ref),
  z
    .strictObject({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) })
    .transform(({ "Fn::GetAtt": path }) => path.join(".")),
]);

/** Replaces each `${NAME}` by the value of its reference. */
const textSchema = z
  .strictObject({ "Fn::Sub": z.string() })
  .transform(({ "Fn::Sub": text }) => text);

type Test = (given: readonly string[] | undefined, wanted: readonly string[]) => boolean;

const is =
  (wanted: readonly string[]) =>
  (value: string): boolean =>
    wanted.includes(value);

const escaped = (text: string): string => text.replaceAll(/[^\w]/g, "\\$&");

/** Matches a pattern of IAM, in which `*` is any text, also an empty one. */
const isLike =
  (wanted: readonly string[]) =>
  (value: string): boolean =>
    wanted.some((pattern) =>
      new RegExp(`^${pattern.split("*").map(escaped).join(".*")}$`, "s").test(value),
    );

/** The operators of IAM in use, as its user guide defines them. */
const TESTS: Readonly<Record<string, Test>> = {
  StringEquals: (given, wanted) => given?.some(is(wanted)) ?? false,
  // "If the key is not present, the condition evaluates to true."
  StringNotEqualsIfExists: (given, wanted) => !given?.some(is(wanted)),
  // One of several patterns must match; * matches any characters, including ":" and "/".
  ArnLike: (given, wanted) => given?.some(isLike(wanted)) ?? false,
  // "If the key that you specify is not present, the negated condition is true."
  ArnNotLike: (given, wanted) => !given?.some(isLike(wanted)),
  Bool: (given, wanted) => given?.some(is(wanted)) ?? false,
  BoolIfExists: (given, wanted) => given?.some(is(wanted)) ?? true,
  // True for every value of the request, so also without any value.
  "ForAllValues:StringEquals": (given, wanted) => (given ?? []).every(is(wanted)),
  "ForAllValues:StringLike": (given, wanted) => (given ?? []).every(isLike(wanted)),
  "ForAllValues:StringNotEquals": (given, wanted) => !(given ?? []).some(is(wanted)),
  "ForAnyValue:StringEquals": (given, wanted) => (given ?? []).some(is(wanted)),
  Null: (given, wanted) => is(wanted)(String(given === undefined)),
};

/**
 * Whether all operators of a statement's condition are true for a request.
 * @param references values by the name of a `Ref`, and by `LOGICAL_ID.Arn` for an ARN
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
    if (!holds) throw new Error(`condition operator ${operator}: not supported; add it to TESTS`);
    return Object.entries(keys).every(([key, wanted]) => {
      const given = context[key];
      return holds(given === undefined ? undefined : [given].flat(), valuesSchema.parse(wanted));
    });
  });
};
