import { exactUint64 } from "../../contract/values.ts";

/** Binary units (IEC 80000-13) and decimal ones (SI), as people write them. */
const UNITS = new Map<string, bigint>([
  ["B", 1n],
  ["kB", 1000n],
  ["MB", 1000n ** 2n],
  ["GB", 1000n ** 3n],
  ["TB", 1000n ** 4n],
  ["PB", 1000n ** 5n],
  ["EB", 1000n ** 6n],
  ["KiB", 1024n],
  ["MiB", 1024n ** 2n],
  ["GiB", 1024n ** 3n],
  ["TiB", 1024n ** 4n],
  ["PiB", 1024n ** 5n],
  ["EiB", 1024n ** 6n],
]);

/** What a size may look like, for people and for editors. */
export const BYTE_SIZE_PATTERN = `^\\d+(\\.\\d+)? ?(${[...UNITS.keys()].join("|")})?$`;
const SIZE = /^(\d{1,20})(?:\.(\d{1,20}))? ?([A-Za-z]+)?$/;

export const BYTE_SIZE_RULE = `a size such as 500 GiB (${[...UNITS.keys()].join(", ")}) or a whole number of bytes, from 0 to 18446744073709551615`;

/**
 * Bytes as decimal text, exact.
 * @returns undefined for what is no size, no whole number of bytes, or more than 64 bits hold
 */
export const parseByteSize = (text: string): string | undefined => {
  const [, whole = "", fraction = "", unit = "B"] = SIZE.exec(text) ?? [];
  const factor = UNITS.get(unit);
  if (whole === "" || factor === undefined) return undefined;
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(whole + fraction) * factor;
  if (scaled % scale !== 0n) return undefined;
  const bytes = exactUint64(scaled / scale);
  return bytes === undefined ? undefined : String(bytes);
};

const BINARY_UNITS = ["EiB", "PiB", "TiB", "GiB", "MiB", "KiB"] as const;

/** The shortest exact form: in the largest binary unit of which it is a whole multiple, else the number. */
export const formatByteSize = (bytes: string): string => {
  const exact = BigInt(bytes);
  const unit = BINARY_UNITS.find((name) => exact > 0n && exact % (UNITS.get(name) ?? 1n) === 0n);
  return unit === undefined ? bytes : `${exact / (UNITS.get(unit) ?? 1n)} ${unit}`;
};
