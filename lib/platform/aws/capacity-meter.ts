import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as z from "zod";

/** Capacity units, table and indexes together. */
export interface CapacityUnits {
  readonly read: number;
  readonly write: number;
}

const READS: ReadonlySet<string> = new Set(["GetItemCommand", "QueryCommand", "ScanCommand"]);

/** The output of a call for one table. */
const outputSchema = z.object({
  ConsumedCapacity: z.object({ CapacityUnits: z.number().optional() }).optional(),
});

/**
 * Counts the capacity units that calls of this client consume from now on, as DynamoDB reports them. A call that
 * fails reports none, although DynamoDB counts a failed condition.
 */
export const meterCapacity = (client: DynamoDBClient): (() => CapacityUnits) => {
  let units: CapacityUnits = { read: 0, write: 0 };
  client.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        const input = { ...args.input, ReturnConsumedCapacity: "TOTAL" as const };
        const reply = await next({ ...args, input });
        const { ConsumedCapacity } = outputSchema.parse(reply.output);
        const consumed = ConsumedCapacity?.CapacityUnits ?? 0;
        units = READS.has(commandName)
          ? { ...units, read: units.read + consumed }
          : { ...units, write: units.write + consumed };
        return reply;
      },
    { step: "initialize", name: "meterCapacity" },
  );
  return () => units;
};
