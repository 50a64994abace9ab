import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createAwsClient } from "../../platform/aws/aws-client.ts";
import { meterCapacity } from "../../platform/aws/capacity-meter.ts";
import { createDynamodbLedger } from "../../platform/aws/dynamodb-ledger.ts";
import { createDynamodbUnlistedItems } from "../../platform/aws/dynamodb-unlisted-items.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import { awsClock, awsTrouble, stageResource } from "./aws.ts";

/** The ledger of a deployed stage, with the AWS credentials of the environment. */
export const openStageLedger = (stage: string, clock: Clock) => {
  const tableName = stageResource(stage, "ledger");
  const client = createAwsClient(DynamoDBClient);
  const options = { client, tableName };
  return {
    tableName,
    client,
    ledger: createDynamodbLedger(options),
    unlisted: createDynamodbUnlistedItems(options),
    /** AWS's clock. */
    clock: awsClock(clock, client),
    consumed: meterCapacity(client),
    /** Turns an error of AWS into an ExitError. */
    trouble: (error: unknown): unknown =>
      awsTrouble(error, `no table ${tableName} in this AWS account and region`),
  };
};
