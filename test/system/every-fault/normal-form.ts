/** A field with values that differ from run to run without a meaning, and the reason. */
interface Blank {
  readonly fields: RegExp;
  readonly becomes: string;
  readonly because: string;
}

/** Fields that are left out of every comparison. */
const BLANKS: readonly Blank[] = [
  {
    fields: /(?:At|AtMs|Until|Since|_at|_on)$|^(?:at|deadline|notBefore|since|time|until)$/,
    becomes: "an instant",
    because: "a repeated step happens later",
  },
  {
    fields: /^durationMs$/,
    becomes: "a duration",
    because: "a repeated step takes longer",
  },
  {
    fields: /^(?:by|runner)$/,
    becomes: "a runner",
    because: "another invocation continues",
  },
  {
    fields: /^granted$/,
    becomes: "a count",
    because: "it counts the last window with a request, whichever that was",
  },
];

/** Ids that begin with zeros are constants of a scenario. */
const GENERATED_ID = /(?!00000000)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

const isBlankable = (value: unknown): boolean =>
  typeof value === "number" || (typeof value === "string" && value !== "");

/** What stands for a value without a meaning; undefined for all others. */
export const blankOf = (field: string, value: unknown): string | undefined => {
  if (!isBlankable(value)) return undefined;
  const blank = BLANKS.find(({ fields }) => fields.test(field));
  if (blank?.becomes === "an instant" && typeof value === "string" && !INSTANT.test(value)) {
    return undefined;
  }
  return blank && `<${blank.becomes}>`;
};

/** JSON text of a value without the meaningless differences. */
export const blanked = (value: unknown): string =>
  JSON.stringify(value, (field, part) => blankOf(field, part) ?? part);

/** Every generated id in a text. */
export const idsIn = (text: string): ReadonlySet<string> => new Set(text.match(GENERATED_ID));

/** The text without generated ids. */
export const anonymous = (text: string): string => text.replace(GENERATED_ID, "<an id>");

/** Gives generated ids names that are equal in every run, in the order of the calls. */
export const createIdNames = (knownBefore: ReadonlySet<string>) => {
  const names = new Map<string, string>();
  const nameOf = (id: string): string => {
    if (knownBefore.has(id)) return id;
    const name = names.get(id) ?? `<id ${names.size + 1}>`;
    names.set(id, name);
    return name;
  };
  return {
    /** The text with names in place of ids. */
    named: (text: string): string => text.replace(GENERATED_ID, nameOf),
    /** As `named`, but ids without a name stay unnamed. */
    namedIfKnown: (text: string): string =>
      text.replace(GENERATED_ID, (id) =>
        names.has(id) || knownBefore.has(id) ? nameOf(id) : "<an id>",
      ),
    /** The text without generated ids that were unknown before. */
    anonymous: (text: string): string =>
      text.replace(GENERATED_ID, (id) => (knownBefore.has(id) ? id : "<an id>")),
  };
};
