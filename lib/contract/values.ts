import * as z from "zod";

const MAX_UINT64 = 18_446_744_073_709_551_615n;

/** Text limited in characters as people count them: an emoji outside the BMP is one, not two. */
export const text = (maxCharacters: number) =>
  z
    .string()
    .refine((value) => [...value].length <= maxCharacters, {
      error: `at most ${maxCharacters} characters`,
    })
    .meta({ maxLength: maxCharacters });

/**
 * A path parameter that is text. `.` and `..` are refused: URL parsers resolve them, so the request
 * would reach another resource.
 */
export const pathText = z
  .string()
  .min(1)
  .refine((value) => value !== "." && value !== "..", { error: "must not be . or .." });

/** An identifier in UUID form, of any version; the provider's own samples are not all RFC 9562. */
export const uuid = z.guid();
export const pathUuid = uuid;
export const pathInteger = z.int();

/** Resource names of policies, routers and pools: 3 to 63 characters (provider's public pattern). */
export const resourceName = z.string().regex(/^[a-zA-Z0-9][a-zA-Z 0-9._-]{1,61}[a-zA-Z0-9._]$/, {
  error:
    "3 to 63 letters, digits, spaces, dots, underscores or hyphens; starts with a letter or digit, does not end with a space or hyphen",
});

export const ipAddress = z.union([z.ipv4(), z.ipv6()], { error: "an IPv4 or IPv6 address" });
export const cidr = z.union([z.cidrv4(), z.cidrv6()], {
  error: "an IPv4 or IPv6 network in CIDR form",
});

const UINT64_RULE = `a whole number from 0 to ${MAX_UINT64}`;

const wireUint64 = z
  .union([z.int().nonnegative(), z.bigint()], { error: UINT64_RULE })
  .refine((value) => value >= 0 && BigInt(value) <= MAX_UINT64, { error: UINT64_RULE });

const domainUint64 = z.union(
  [
    z
      .string()
      .regex(/^(0|[1-9]\d{0,19})$/)
      .refine((value) => BigInt(value) <= MAX_UINT64),
    z.int().nonnegative(),
  ],
  {
    error: `${UINT64_RULE}, as a decimal string (or a number up to 9007199254740991, the largest that JSON readers keep exact)`,
  },
);

/**
 * Unsigned 64-bit integer. On the wire a JSON number (read and written without loss); everywhere
 * inside, and in our events, a decimal string, because JSON parsers round numbers of that size.
 */
export const uint64 = z
  .codec(wireUint64, domainUint64, {
    decode: (wire) => String(wire),
    encode: (value) => BigInt(value),
  })
  .meta({ format: "uint64" });

/** For operations without path parameters or query. */
export const nothing = z.strictObject({});
/** For operations without a request or response body. */
export const noBody = z.undefined({ error: "this operation takes no body" });

/** The answer of an operation whose work goes on in the background; empty means nothing to do. */
export const tasksReply = z.looseObject({ tasks: z.array(z.string()) });

export const projectAndRegion = { project_id: pathInteger, region_id: pathInteger };
