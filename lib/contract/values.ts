import * as z from "zod";
import { lazy } from "./lazy.ts";

const MAX_UINT64 = 18_446_744_073_709_551_615n;

const orRequired =
  (rule: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? "required" : rule;

/** Enum whose error lists the words. */
export const oneOf = <const Word extends string>(words: readonly Word[]) =>
  z.enum(words, { error: orRequired(`one of ${words.join(", ")}`) });

/** Text in a reply: documents the known words and accepts any. */
export const openWord = (words: readonly string[]) => z.string().meta({ examples: [...words] });

/** Text without lone surrogates. Stores and URLs reject or change half an emoji. */
export const unlimitedText = lazy(() =>
  z
    .string()
    .refine((value) => !/\p{Surrogate}/u.test(value), { error: "must be well-formed Unicode" }),
);

/** Text with a limit in Unicode characters: an emoji outside the BMP counts as one, not two. */
export const text = (maxCharacters: number) =>
  unlimitedText()
    .refine((value) => [...value].length <= maxCharacters, {
      error: `at most ${maxCharacters} characters`,
    })
    .meta({ maxLength: maxCharacters });

/** Text in a path. URL parsers resolve `.` and `..`, so such a request would reach another resource. */
export const pathText = lazy(() =>
  unlimitedText()
    .min(1)
    .refine((value) => value !== "." && value !== "..", { error: "must not be . or .." }),
);

/**
 * UUID of any version; the provider's samples are not all valid under RFC 9562. Converted to lower case, so
 * that one resource has one name and one lane.
 */
export const uuid = lazy(() => z.guid().toLowerCase());

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const inOneSpelling = (id: string): string => (UUID.test(id) ? id.toLowerCase() : id);

/** An id that the document types as text. The provider uses UUIDs, which are converted to lower case. */
export const textId = lazy(() => unlimitedText().overwrite(inOneSpelling));
/** As `textId`, in a path. */
export const pathId = lazy(() => pathText().overwrite(inOneSpelling));

export const pathInteger = lazy(() => z.int());

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** A signed 64-bit id; a bigint outside the safe range of numbers. */
export const int64 = lazy(() =>
  z
    .union([z.int(), z.bigint().min(INT64.min).max(INT64.max)], {
      error: orRequired(`a whole number from ${INT64.min} to ${INT64.max}`),
    })
    .meta({ type: "integer", format: "int64" }),
);

/** Name of a policy, router or pool, by the provider's published pattern. */
export const resourceName = lazy(() =>
  z.string().regex(/^[a-zA-Z0-9][a-zA-Z 0-9._-]{1,61}[a-zA-Z0-9._]$/, {
    error:
      "3 to 63 letters, digits, spaces, dots, underscores or hyphens; starts with a letter or digit, does not end with a space or hyphen",
  }),
);

export const ipAddress = lazy(() =>
  z.union([z.ipv4(), z.ipv6()], {
    error: orRequired("an IPv4 or IPv6 address"),
  }),
);
export const cidr = lazy(() =>
  z.union([z.cidrv4(), z.cidrv6()], {
    error: orRequired("an IPv4 or IPv6 network in CIDR form"),
  }),
);

export const UINT64_RULE = `a whole number from 0 to ${MAX_UINT64}`;
const DECIMAL_RULE = `${UINT64_RULE}, as a decimal string (or a number up to 9007199254740991, the largest that JSON parsers keep exact)`;
const DECIMAL = /^(0|[1-9]\d{0,19})$/;

/** The value as a bigint; undefined unless it is exact and fits into 64 bits without a sign. */
export const exactUint64 = (value: string | number | bigint): bigint | undefined => {
  const isExact = typeof value === "number" ? Number.isSafeInteger(value) : true;
  const isDecimal = typeof value === "string" ? DECIMAL.test(value) : true;
  if (!isExact || !isDecimal) return undefined;
  const exact = BigInt(value);
  return exact >= 0n && exact <= MAX_UINT64 ? exact : undefined;
};

const jsonInteger = lazy(() => z.number().meta({ type: "integer", minimum: 0 }));

/**
 * Unsigned 64-bit integer. On the wire a JSON number, parsed and formatted without loss; in our code and
 * events a decimal string, because JSON parsers round numbers of that size. The conversion itself checks the
 * rule, because zod converts a value before it runs checks.
 */
export const uint64 = lazy(() =>
  z
    .codec(
      z.union([jsonInteger(), z.bigint()], { error: UINT64_RULE }),
      z.union([z.string().meta({ pattern: DECIMAL.source }), jsonInteger()], {
        error: DECIMAL_RULE,
      }),
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
    .meta({ format: "uint64" }),
);

/** For parts of a reply: an unreadable value becomes undefined, and the rest of the reply stays usable. */
export const ifUsable = <S extends z.ZodType>(schema: S) => schema.optional().catch(undefined);

/** Schema of an operation without path parameters or without query. */
export const nothing = lazy(() => z.strictObject({}));
export const noBody = lazy(() => z.undefined({ error: "this operation takes no body" }));

/** Reply of an operation with background work. An empty list means that nothing had to change. */
export const tasksReply = lazy(() =>
  z
    .looseObject({
      tasks: z.array(z.string()).describe("ids of the tasks; empty if nothing had to change"),
    })
    .meta({ id: "Tasks" }),
);

export const projectAndRegion = lazy(() => ({
  project_id: pathInteger().describe("id of the project"),
  region_id: pathInteger().describe("id of the region"),
}));
/** 64-bit ids, as the document types them for E6 and E12. */
export const projectAndRegionInt64 = lazy(() => ({
  project_id: int64().describe("id of the project"),
  region_id: int64().describe("id of the region"),
}));

/** Instant in ISO 8601. The provider's samples have `Z` or no zone; without a zone it means UTC. */
export const timestamp = lazy(() =>
  z.iso
    .datetime({ offset: true, local: true, error: "a time such as 2026-01-31T12:00:00Z" })
    .meta({ format: "date-time" }),
);

/** Epoch milliseconds of a `timestamp`. Date.parse alone would take one without a zone as local time. */
export const epochMsOf = (text: string): number =>
  Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`);
