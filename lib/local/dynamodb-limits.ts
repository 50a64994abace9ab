import { storedBytes } from "../platform/aws/stored-value.ts";
import type { Clock } from "../platform/ports/clock.ts";
import {
  type Ledger,
  type LedgerItem,
  type Listing,
  MAX_SHARDS,
} from "../platform/ports/ledger.ts";
import {
  type AwsLimits,
  createRate,
  type OnThrottled,
  type Rate,
  ThrottledError,
} from "./aws-limits.ts";

/*
 * Units of the table and the indexes of lib/platform/aws/dynamodb-ledger.ts, as DynamoDB counts them:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html
 */

const WRITE_BYTES = 1_024;
const READ_BYTES = 4_096;
/** A query of an index is eventually consistent, and costs half. */
const QUERY_SHARE = 0.5;

/** Bytes of an attribute: its name and its text. */
const textBytes = (name: string, text: string): number => name.length + Buffer.byteLength(text);
/** Bytes of an attribute with a number: a byte for two digits, and one more. */
const numberBytes = (name: string, number: number): number =>
  name.length + Math.ceil(String(number).length / 2) + 1;

const listingBytes = ({ partition, sort, ...fields }: Listing): number =>
  Object.entries(fields)
    .map(([name, text]) => (text === undefined ? 0 : textBytes(name, text)))
    .reduce(
      (sum, bytes) => sum + bytes,
      textBytes("listPartition", partition) + textBytes("listSort", sort),
    );

const dueBytes = (dueAt: number): number => textBytes("due", "due") + numberBytes("dueAt", dueAt);

const itemBytes = (item: LedgerItem): number =>
  textBytes("pk", item.key) +
  numberBytes("version", item.version) +
  "value".length +
  storedBytes(item.value) +
  (item.dueAt === undefined ? 0 : dueBytes(item.dueAt)) +
  (item.expiresAt === undefined ? 0 : numberBytes("expiresAt", Math.ceil(item.expiresAt / 1_000))) +
  (item.listing === undefined ? 0 : listingBytes(item.listing));

/** Name of the partition of a shard of the due index; no item has such a key. */
const duePartition = (shard: number): string => `due ${shard}`;

const ALL_SHARDS = Array.from({ length: MAX_SHARDS }, (_, shard) => shard);

const unitsOf = (bytes: number, unitBytes: number): number =>
  Math.max(1, Math.ceil(bytes / unitBytes));

/** Entry of an item in the due index. */
interface Due {
  readonly at: number;
  readonly partition: string;
}

/** What a write needs to know of the item that it replaces. */
interface Written {
  readonly version: number;
  readonly bytes: number;
  readonly due: Due | undefined;
  readonly isListed: boolean;
}

/** Limits of a partition, which are also the kinds of units. */
type UnitKind =
  | "item writes"
  | "due index writes"
  | "list index writes"
  | "item reads"
  | "due index reads"
  | "list index reads";

/** Units that a write costs one partition. */
interface Cost {
  readonly limit: UnitKind;
  readonly partition: string;
  readonly units: number;
}

/** Costs of a write in the due index: it deletes the previous entry and puts the next one, if they differ. */
const dueCosts = (previous: Due | undefined, next: Due | undefined): readonly Cost[] => {
  if (previous?.at === next?.at && previous?.partition === next?.partition) return [];
  const partitions = [previous, next].flatMap((due) => (due ? [due.partition] : []));
  return [...new Set(partitions)].map((partition) => ({
    limit: "due index writes",
    partition,
    units: partitions.filter((other) => other === partition).length,
  }));
};

const costsOf = (
  item: LedgerItem,
  next: Written,
  previous: Written | undefined,
): readonly Cost[] => {
  const bytes = Math.max(next.bytes, previous?.bytes ?? 0);
  const table: Cost = {
    limit: "item writes",
    partition: item.key,
    units: unitsOf(bytes, WRITE_BYTES),
  };
  const due = dueCosts(previous?.due, next.due);
  const { listing } = item;
  // A listing never changes, so only the first write of the item also writes the index.
  if (listing === undefined || previous?.isListed) return [table, ...due];
  const units = unitsOf(textBytes("pk", item.key) + listingBytes(listing), WRITE_BYTES);
  return [
    table,
    ...due,
    { limit: "list index writes", partition: `list ${listing.partition}`, units },
  ];
};

/** Units that one call has used, in the table or in one of its indexes. */
export interface UsedUnits {
  /** What was read or written. */
  readonly limit: UnitKind;
  readonly units: number;
  /** Key of the item; undefined for a query. */
  readonly key: string | undefined;
}

interface LedgerLimits {
  readonly limits: Pick<AwsLimits, "writeUnits" | "readUnits">;
  readonly clock: Pick<Clock, "now">;
  readonly onThrottled: OnThrottled;
}

/**
 * DynamoDB's limits per partition: of an item, of a shard of the due index, and of the list index. Returns a function
 * that puts them before a ledger; the ledgers of all callers share one table. The table has a partition for each item,
 * although DynamoDB gives an item one of its own only after a while. A throttled index throttles the writes that change
 * it. The methods of the ledgers throw ThrottledError; then the call had no effect.
 *
 * The second parameter of that function gets the units of each call of its ledger when the call ends, those of a failed
 * condition too; default: none. The third is the shard of the due index that a written item's entry goes to, by its
 * key; default: 0 for all.
 */
export const createLedgerLimits = ({ limits, clock, onThrottled }: LedgerLimits) => {
  const writes = createRate(clock, () => limits.writeUnits);
  const reads = createRate(clock, () => limits.readUnits);
  const written = new Map<string, Written>();

  const demand = (rate: Rate, claims: readonly Pick<Cost, "limit" | "partition">[]): void => {
    const closed = claims.filter(({ partition }) => !rate.isOpen(partition));
    for (const { limit } of closed) onThrottled(limit);
    const [first] = closed;
    if (first) throw new ThrottledError("ProvisionedThroughputExceededException", first.limit);
  };

  const charge = (costs: readonly Cost[], times: 1 | -1): void => {
    for (const { partition, units } of costs) writes.charge(partition, times * units);
  };

  /** Bytes of an item that was read; those of the newest write are known. */
  const bytesRead = (item: LedgerItem): number => {
    const newest = written.get(item.key);
    return newest?.version === item.version ? newest.bytes : itemBytes(item);
  };

  /** @param partitions those that the query reads */
  const query = async <E>(
    { limit, partitions }: { readonly limit: UnitKind; readonly partitions: readonly string[] },
    ask: () => Promise<readonly E[]>,
    partOf: (entry: E) => { readonly partition: string | undefined; readonly bytes: number },
    onUsed: (used: UsedUnits) => void,
  ): Promise<readonly E[]> => {
    demand(
      reads,
      partitions.map((partition) => ({ limit, partition })),
    );
    for (const partition of partitions) reads.charge(partition, QUERY_SHARE);
    const parts = (await ask()).map((entry) => ({ entry, ...partOf(entry) }));
    let units = 0;
    for (const partition of partitions) {
      const bytes = parts
        .filter((part) => part.partition === partition)
        .reduce((sum, part) => sum + part.bytes, 0);
      const used = unitsOf(bytes, READ_BYTES) * QUERY_SHARE;
      reads.charge(partition, used - QUERY_SHARE);
      units += used;
    }
    onUsed({ limit, units, key: undefined });
    return parts.map(({ entry }) => entry);
  };

  return (
    ledger: Ledger,
    onUsed: (used: UsedUnits) => void = () => {},
    shardOf: (key: string) => number = () => 0,
  ): Ledger => ({
    async read(key) {
      demand(reads, [{ partition: key, limit: "item reads" }]);
      reads.charge(key, 1);
      const item = await ledger.read(key);
      const units = item === undefined ? 1 : unitsOf(bytesRead(item), READ_BYTES);
      reads.charge(key, units - 1);
      onUsed({ limit: "item reads", units, key });
      return item;
    },
    async write(item) {
      const { listing, dueAt, version } = item;
      const due =
        dueAt === undefined ? undefined : { at: dueAt, partition: duePartition(shardOf(item.key)) };
      const next = { version, bytes: itemBytes(item), due, isListed: listing !== undefined };
      const previous = version === 1 ? undefined : written.get(item.key);
      const costs = costsOf(item, next, previous);
      demand(writes, costs);
      charge(costs, 1);
      const answer = await ledger.write(item);
      if (answer === "written") written.set(item.key, next);
      // A failed condition costs units of the table only.
      else charge(costs.slice(1), -1);
      const used = answer === "written" ? costs : costs.slice(0, 1);
      for (const { limit, units } of used) onUsed({ limit, units, key: item.key });
      return answer;
    },
    listDue(until, limit, shard, from) {
      const partitions = (shard === undefined ? ALL_SHARDS : [shard]).map(duePartition);
      return query(
        { partitions, limit: "due index reads" },
        () => ledger.listDue(until, limit, shard, from),
        ({ key, dueAt }) => ({
          partition: shard === undefined ? written.get(key)?.due?.partition : partitions[0],
          bytes: textBytes("pk", key) + dueBytes(dueAt),
        }),
        onUsed,
      );
    },
    list(ofList, before, limit) {
      const partition = `list ${ofList}`;
      return query(
        { partitions: [partition], limit: "list index reads" },
        () => ledger.list(ofList, before, limit),
        ({ key, ...listing }) => ({
          partition,
          bytes: textBytes("pk", key) + listingBytes(listing),
        }),
        onUsed,
      );
    },
  });
};
