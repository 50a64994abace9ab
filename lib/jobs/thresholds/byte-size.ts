/** Bytes of each unit, decimal (SI) or binary (IEC 80000-13). */
export const BYTE_UNITS: ReadonlyMap<string, bigint> = new Map([
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

const BINARY_UNITS = ["EiB", "PiB", "TiB", "GiB", "MiB", "KiB"] as const;

/** Bytes as a multiple of the largest binary unit that divides them, else as the plain number. */
export const formatByteSize = (bytes: string): string => {
  const exact = BigInt(bytes);
  const unit = BINARY_UNITS.find(
    (name) => exact > 0n && exact % (BYTE_UNITS.get(name) ?? 1n) === 0n,
  );
  return unit === undefined ? bytes : `${exact / (BYTE_UNITS.get(unit) ?? 1n)} ${unit}`;
};
