/** An address as a number. */
export interface IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** The addresses that begin with the same `bits - freeBits` bits. */
export interface IpRange {
  readonly bits: 32 | 128;
  readonly freeBits: bigint;
  readonly begin: bigint;
}

const GROUPS = 8;
/** `::ffff:0:0/96`, where version 6 holds the addresses of version 4. */
const MAPPED = 0xffffn;
const MASK = /^\d{1,3}$/;

const readVersion4 = (text: string): IpAddress | undefined => {
  const parts = text.split(".");
  const isRight = parts.length === 4 && parts.every((part) => /^\d+$/.test(part) && +part < 256);
  if (!isRight) return undefined;
  return { bits: 32, value: parts.reduce((value, part) => value * 256n + BigInt(part), 0n) };
};

const groupsOf = (text: string): readonly string[] => (text === "" ? [] : text.split(":"));

const readVersion6 = (text: string): IpAddress | undefined => {
  const [head = "", tail, more] = text.split("::");
  const left = groupsOf(head);
  const right = groupsOf(tail ?? "");
  const missing = GROUPS - left.length - right.length;
  const isRightLength = tail === undefined ? missing === 0 : missing > 0;
  if (more !== undefined || !isRightLength) return undefined;
  const groups = [...left, ...Array.from({ length: missing }, () => "0"), ...right];
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined;
  const value = groups.reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n);
  return value >> 32n === MAPPED ? { bits: 32, value: value & 0xffffffffn } : { bits: 128, value };
};

/** Reads `10.0.0.1` or `2001:db8::1`; undefined for any other text. */
export const readIpAddress = (text: string): IpAddress | undefined =>
  text.includes(":") ? readVersion6(text) : readVersion4(text);

/** Reads `10.0.0.0/8`; undefined if that is not what the text is, or for one address. */
export const readIpRange = (text: string): IpRange | undefined => {
  const [addressText = "", mask = "", more] = text.split("/");
  const address = readIpAddress(addressText);
  if (address === undefined || more !== undefined || !MASK.test(mask)) return undefined;
  // Ruler (CIDR.java) takes masks below 32 and 128 only.
  if (Number(mask) >= address.bits) return undefined;
  const freeBits = BigInt(address.bits - Number(mask));
  return { bits: address.bits, freeBits, begin: address.value >> freeBits };
};

export const isInRange = (address: IpAddress, range: IpRange): boolean =>
  address.bits === range.bits && address.value >> range.freeBits === range.begin;
