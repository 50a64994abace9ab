import type { DynamodbOperation } from "./dynamodb-calls.ts";

/** Capacity units, table and indexes together. */
export interface CapacityUnits {
  readonly read: number;
  readonly write: number;
}

const READS: ReadonlySet<DynamodbOperation> = new Set(["GetItem", "Query", "Scan"]);

/**
 * Counts the capacity units that calls consume, as DynamoDB reports them. A call that fails reports none, although
 * DynamoDB counts a failed condition.
 */
export const createCapacityMeter = () => {
  let units: CapacityUnits = { read: 0, write: 0 };
  return {
    onConsumed(operation: DynamodbOperation, consumed: number): void {
      units = READS.has(operation)
        ? { ...units, read: units.read + consumed }
        : { ...units, write: units.write + consumed };
    },
    units: (): CapacityUnits => units,
  };
};
