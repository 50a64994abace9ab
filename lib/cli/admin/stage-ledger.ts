import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createAwsClient } from "../../platform/aws/aws-client.ts";
import { createCapacityMeter } from "../../platform/aws/capacity-meter.ts";
import { createDynamodbLedger } from "../../platform/aws/dynamodb-ledger.ts";
import { createDynamodbUnlistedItems } from "../../platform/aws/dynamodb-unlisted-items.ts";
import { once } from "../../platform/lambda/invocation.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { awsClock, awsTrouble, stageResource } from "./aws.ts";

/** Whether the table lacks an index, or DynamoDB still builds it. No other query here is invalid. */
const isWithoutIndex = (error: unknown): boolean =>
  error instanceof Error && error.name === "ValidationException" && /index/.test(error.message);

const noIndex = (tableName: string): ExitError =>
  new ExitError(
    EXIT.refused,
    `the table ${tableName} has no complete index list; deploy this version of Skyhook, or try again in a few minutes if it is deployed`,
  );

/** The ledger of a deployed stage, with the AWS credentials of the environment. */
export const openStageLedger = (stage: string, clock: Clock) => {
  const tableName = stageResource(stage, "ledger");
  const client = createAwsClient(DynamoDBClient);
  const { onConsumed, units } = createCapacityMeter();
  const options = { client, tableName, onConsumed };
  const ledger = createDynamodbLedger(options);
  const learnTime = once(() => ledger.read("none#"));
  const trouble = (error: unknown): unknown =>
    isWithoutIndex(error)
      ? noIndex(tableName)
      : awsTrouble(error, `no table ${tableName} in this AWS account and region`);
  return {
    ledger,
    unlisted: createDynamodbUnlistedItems(options),
    /** AWS's clock, once `learnTime` has resolved. */
    clock: awsClock(clock, client),
    /** Makes a call, because AWS's time is unknown before its first reply. */
    learnTime,
    consumed: units,
    /** The AWS account of the stage, from the ARN of its table. */
    awsAccount: once(async () => {
      const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
      const [, , , , account = ""] = (Table?.TableArn ?? "").split(":");
      return account;
    }),
    /** Turns an error of AWS into an ExitError. */
    trouble,
    /** Runs work after AWS's clock is known. @throws ExitError when AWS does not answer or refuses */
    async at<T>(work: () => Promise<T>): Promise<T> {
      try {
        await learnTime();
        return await work();
      } catch (error) {
        throw trouble(error);
      }
    },
  };
};

export type StageLedger = ReturnType<typeof openStageLedger>;
