import { createHmac } from "node:crypto";

const sortKeys = (_key: string, value: unknown): unknown =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/**
 * Keyed hash of JSON data, the same for any order of its fields. Discloses nothing without the key.
 */
export const fingerprintOf = (value: unknown, key: string): string =>
  createHmac("sha256", key).update(JSON.stringify(value, sortKeys)).digest("hex");
