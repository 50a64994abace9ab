/** A value that may differ from run to run without meaning anything, by its field, and why. */
interface Blank {
  readonly fields: RegExp;
  readonly becomes: string;
  readonly because: string;
}

/** What is left out of every comparison: the names say all of it. */
const BLANKS: readonly Blank[] = [
  {
    fields: /(?:At|AtMs|Until|Since|_at|_on)$|^(?:deadline|notBefore|since|time|until)$/,
    becomes: "an instant",
    because: "what is done again is done later",
  },
  {
    fields: /^durationMs$/,
    becomes: "a duration",
    because: "what is done again takes longer",
  },
  {
    fields: /^(?:by|runner)$/,
    becomes: "a runner",
    because: "another invocation goes on",
  },
  {
    fields: /^granted$/,
    becomes: "a count",
    because: "it is that of the last window in which anything was sent, whatever that was",
  },
];

/** Those that begin with zeros stand in a scenario. */
const GENERATED_ID = /(?!00000000)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

const isBlankable = (value: unknown): boolean =>
  typeof value === "number" || (typeof value === "string" && value !== "");

const blankOf = (field: string, value: unknown): string | undefined => {
  if (!isBlankable(value)) return undefined;
  const blank = BLANKS.find(({ fields }) => fields.test(field));
  if (blank?.becomes === "an instant" && typeof value === "string" && !INSTANT.test(value)) {
    return undefined;
  }
  return blank && `<${blank.becomes}>`;
};

/** JSON text of a value without what may differ without meaning anything. */
export const blanked = (value: unknown): string =>
  JSON.stringify(value, (field, part) => blankOf(field, part) ?? part);

/** Every id in a text that looks made. */
export const idsIn = (text: string): ReadonlySet<string> => new Set(text.match(GENERATED_ID));

/** Gives ids that somebody made during the run names that every run gives them, in the order of asking. */
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
    /** The same where an id that has no name yet stays without one. */
    namedIfKnown: (text: string): string =>
      text.replace(GENERATED_ID, (id) =>
        names.has(id) || knownBefore.has(id) ? nameOf(id) : "<an id>",
      ),
    /** The text without made ids: what it says beside them. */
    anonymous: (text: string): string =>
      text.replace(GENERATED_ID, (id) => (knownBefore.has(id) ? id : "<an id>")),
  };
};
