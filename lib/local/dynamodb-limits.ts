import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger, LedgerItem, Listing } from "../platform/ports/ledger.ts";
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
  textBytes("value", JSON.stringify(item.value)) +
  (item.dueAt === undefined ? 0 : dueBytes(item.dueAt)) +
  (item.expiresAt === undefined ? 0 : numberBytes("expiresAt", Math.ceil(item.expiresAt / 1_000))) +
  (item.listing === undefined ? 0 : listingBytes(item.listing));

const unitsOf = (bytes: number, unitBytes: number): number =>
  Math.max(1, Math.ceil(bytes / unitBytes));

/** What a write needs to know of the item that it replaces. */
interface Written {
  readonly version: number;
  readonly bytes: number;
  readonly dueAt: number | undefined;
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

/** Units of a write in the due index: it deletes the previous entry and puts the next one, if they differ. */
const dueUnits = (previous: number | undefined, next: number | undefined): number =>
  previous === next ? 0 : Number(previous !== undefined) + Number(next !== undefined);

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
  const due: Cost = {
    limit: "due index writes",
    partition: "due",
    units: dueUnits(previous?.dueAt, next.dueAt),
  };
  const { listing } = item;
  // A listing never changes, so only the first write of the item also writes the index.
  if (listing === undefined || previous?.isListed) return [table, due];
  const units = unitsOf(textBytes("pk", item.key) + listingBytes(listing), WRITE_BYTES);
  return [
    table,
    due,
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
 * DynamoDB's limits per partition: of an item, of the due index, and of the list index. Returns a function that puts
 * them before a ledger; the ledgers of all callers share one table. The table has a partition for each item, although
 * DynamoDB gives an item one of its own only after a while. A throttled index throttles the writes that change it.
 * The methods of the ledgers throw ThrottledError; then the call had no effect.
 *
 * The second parameter of that function gets the units of each call of its ledger when the call ends, those of a failed
 * condition too; default: none.
 */
export const createLedgerLimits = ({
  limits,
  clock,
  onThrottled,
}: LedgerLimits): ((ledger: Ledger, onUsed?: (used: UsedUnits) => void) => Ledger) => {
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

  const query = async <E>(
    at: Pick<Cost, "limit" | "partition">,
    ask: () => Promise<readonly E[]>,
    bytesOf: (entry: E) => number,
    onUsed: (used: UsedUnits) => void,
  ): Promise<readonly E[]> => {
    demand(reads, [at]);
    reads.charge(at.partition, QUERY_SHARE);
    const entries = await ask();
    const bytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
    const units = unitsOf(bytes, READ_BYTES) * QUERY_SHARE;
    reads.charge(at.partition, units - QUERY_SHARE);
    onUsed({ limit: at.limit, units, key: undefined });
    return entries;
  };

  return (ledger, onUsed = () => {}) => ({
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
      const next = { version, bytes: itemBytes(item), dueAt, isListed: listing !== undefined };
      const previous = version === 1 ? undefined : written.get(item.key);
      const costs = costsOf(item, next, previous).filter(({ units }) => units > 0);
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
    listDue: (...due) =>
      query(
        { partition: "due", limit: "due index reads" },
        () => ledger.listDue(...due),
        ({ key, dueAt }) => textBytes("pk", key) + dueBytes(dueAt),
        onUsed,
      ),
    list: (partition, before, limit) =>
      query(
        { partition: `list ${partition}`, limit: "list index reads" },
        () => ledger.list(partition, before, limit),
        ({ key, ...listing }) => textBytes("pk", key) + listingBytes(listing),
        onUsed,
      ),
  });
};
