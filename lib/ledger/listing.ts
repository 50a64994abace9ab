import { createHash } from "node:crypto";
import type { Listing } from "../platform/ports/ledger.ts";

/**
 * Partitions of one day. DynamoDB takes 1,000 writes a second into one partition of an index, and each
 * command writes the list once, so four take 4,000 commands a second.
 */
const SHARDS = 4;

/** The day of a `sort`, or of the beginning of one: `2026-11-22`, in UTC. */
export const dayOf = (sort: string): string => sort.slice(0, "2026-11-22".length);

/** The partitions of a day in UTC. */
export const partitionsOf = (day: string): readonly string[] =>
  Array.from({ length: SHARDS }, (_, shard) => `${day}#${shard}`);

/** A text that sorts after every `sort` of this instant. @param at epoch ms */
export const behindInstant = (at: number): string => `${new Date(at).toISOString()}~`;

const instantIn = (sort: string): string => sort.slice(0, "2026-11-22T12:00:00.000Z".length);

/** Orders entries the newest first, by the bytes of `sort` in UTF-8, as every store does. */
export const newestFirst = (a: Pick<Listing, "sort">, b: Pick<Listing, "sort">): number => {
  const [one, other] = [instantIn(a.sort), instantIn(b.sort)];
  // JavaScript compares UTF-16, which orders an emoji before some other characters.
  if (one === other) return Buffer.compare(Buffer.from(b.sort), Buffer.from(a.sort));
  return one < other ? 1 : -1;
};

/** What the list shows of a record, and when it was created. None of it may ever change. */
export type ListFields = Omit<Listing, "partition" | "sort"> & {
  /** Time of creation, epoch ms. */
  readonly at: number;
  /** Partition of a kind that has a list of its own; absent: one of the day's, with the commands. */
  readonly partition?: string | undefined;
};

/** The listing of an item. A hash of its key spreads one day's items over the day's partitions. */
export const listingOf = (itemKey: string, { at, partition, ...fields }: ListFields): Listing => {
  const instant = new Date(at).toISOString();
  const sort = `${instant}#${itemKey}`;
  if (partition !== undefined) return { partition, sort, ...fields };
  const shard = createHash("sha256").update(itemKey).digest().readUInt8() % SHARDS;
  return { partition: `${dayOf(instant)}#${shard}`, sort, ...fields };
};
