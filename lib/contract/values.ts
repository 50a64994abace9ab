import * as z from "zod";

const MAX_UINT64 = 18_446_744_073_709_551_615n;

const orRequired =
  (rule: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? "required" : rule;

/** One of the given words. */
export const oneOf = <const Word extends string>(words: readonly Word[]) =>
  z.enum(words, { error: orRequired(`one of ${words.join(", ")}`) });

/** A word of an answer: documents the known ones, accepts any. */
export const openWord = (words: readonly string[]) => z.string().meta({ examples: [...words] });

/** Text with a UTF-8 form; stores and URLs refuse or change half an emoji. */
export const unlimitedText = z
  .string()
  .refine((value) => !/\p{Surrogate}/u.test(value), { error: "must be well-formed Unicode" });

/** Text limited in Unicode characters: an emoji outside the BMP is one, not two. */
export const text = (maxCharacters: number) =>
  unlimitedText
    .refine((value) => [...value].length <= maxCharacters, {
      error: `at most ${maxCharacters} characters`,
    })
    .meta({ maxLength: maxCharacters });

/** Text in a path. URL parsers resolve `.` and `..`, so the request would reach another resource. */
export const pathText = unlimitedText
  .min(1)
  .refine((value) => value !== "." && value !== "..", { error: "must not be . or .." });

/**
 * An identifier in UUID form, of any version; the provider's own samples are not all RFC 9562. Read in
 * lower case: one resource must not have two names, nor two lanes.
 */
export const uuid = z.guid().toLowerCase();

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const inOneSpelling = (id: string): string => (UUID.test(id) ? id.toLowerCase() : id);

/** An identifier that the document types as text; a UUID, as the provider's are, in one spelling. */
export const textId = unlimitedText.overwrite(inOneSpelling);
/** The same in a path. */
export const pathId = pathText.overwrite(inOneSpelling);

export const pathInteger = z.int();

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** An id with 64 bits in the document; a bigint if a number would round it. */
export const int64 = z
  .union([z.int(), z.bigint().min(INT64.min).max(INT64.max)], {
    error: orRequired(`a whole number from ${INT64.min} to ${INT64.max}`),
  })
  .meta({ type: "integer", format: "int64" });

/** Resource names of policies, routers and pools: 3 to 63 characters (provider's public pattern). */
export const resourceName = z.string().regex(/^[a-zA-Z0-9][a-zA-Z 0-9._-]{1,61}[a-zA-Z0-9._]$/, {
  error:
    "3 to 63 letters, digits, spaces, dots, underscores or hyphens; starts with a letter or digit, does not end with a space or hyphen",
});

export const ipAddress = z.union([z.ipv4(), z.ipv6()], {
  error: orRequired("an IPv4 or IPv6 address"),
});
export const cidr = z.union([z.cidrv4(), z.cidrv6()], {
  error: orRequired("an IPv4 or IPv6 network in CIDR form"),
});

export const UINT64_RULE = `a whole number from 0 to ${MAX_UINT64}`;
const DECIMAL_RULE = `${UINT64_RULE}, as a decimal string (or a number up to 9007199254740991, the largest that JSON readers keep exact)`;
const DECIMAL = /^(0|[1-9]\d{0,19})$/;

/** The value, if it is exact and fits into 64 bits without a sign. */
export const exactUint64 = (value: string | number | bigint): bigint | undefined => {
  const isExact = typeof value === "number" ? Number.isSafeInteger(value) : true;
  const isDecimal = typeof value === "string" ? DECIMAL.test(value) : true;
  if (!isExact || !isDecimal) return undefined;
  const exact = BigInt(value);
  return exact >= 0n && exact <= MAX_UINT64 ? exact : undefined;
};

const jsonInteger = z.number().meta({ type: "integer", minimum: 0 });

/**
 * Unsigned 64-bit integer. On the wire a JSON number, read and written without loss; inside, and in our
 * events, a decimal string, because JSON parsers round numbers of that size. The conversion checks the
 * rule, because zod converts before it runs checks.
 */
export const uint64 = z
  .codec(
    z.union([jsonInteger, z.bigint()], { error: UINT64_RULE }),
    z.union([z.string().meta({ pattern: DECIMAL.source }), jsonInteger], { error: DECIMAL_RULE }),
    {
      decode: (wire, context) => {
        const exact = exactUint64(wire);
        if (exact !== undefined) return String(exact);
        context.issues.push({ code: "custom", message: UINT64_RULE, input: wire });
        return z.NEVER;
      },
      encode: (value, context) => {
        const exact = exactUint64(value);
        if (exact !== undefined) return exact;
        context.issues.push({ code: "custom", message: DECIMAL_RULE, input: value });
        return z.NEVER;
      },
    },
  )
  .meta({ format: "uint64" });

/** For parts of a reply: an unreadable entry is undefined and does not spoil the others. */
export const ifUsable = <S extends z.ZodType>(schema: S) => schema.optional().catch(undefined);

/** No path parameters, or no query. */
export const nothing = z.strictObject({});
export const noBody = z.undefined({ error: "this operation takes no body" });

/** The answer of an operation with background work; an empty list means a no-op. */
export const tasksReply = z.looseObject({ tasks: z.array(z.string()) }).meta({ id: "Tasks" });

export const projectAndRegion = { project_id: pathInteger, region_id: pathInteger };
/** The same with 64 bits, as the document has them for E6 and E12. */
export const projectAndRegionInt64 = { project_id: int64, region_id: int64 };

/** An instant in ISO 8601. The provider's samples have `Z` or no zone, which then means UTC. */
export const timestamp = z.iso
  .datetime({ offset: true, local: true, error: "a time such as 2026-01-31T12:00:00Z" })
  .meta({ format: "date-time" });

/** Epoch milliseconds of a `timestamp`; Date.parse would read one without a zone as local time. */
export const epochMsOf = (text: string): number =>
  Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
