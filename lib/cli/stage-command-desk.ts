import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { cancelCommand, liftPause, resolveCommand } from "../admin/operator-actions.ts";
import { readState } from "../admin/status.ts";
import { commandKey } from "../engine/command.ts";
import { createAwsClient } from "../platform/aws/aws-client.ts";
import { createDynamodbLedger } from "../platform/aws/dynamodb-ledger.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Metrics } from "../platform/ports/metrics.ts";
import { awsClock } from "./aws-clock.ts";
import { awsTrouble } from "./aws-trouble.ts";
import type { CommandDesk } from "./command-desk.ts";
import { terminalLog } from "./output.ts";
import { requestStateSchema } from "./request-state.ts";
import { stageResource } from "./stage-option.ts";

/** Metrics are lines in the log of a function, and this is none. */
const countedNowhere: Metrics = { count: () => {}, measure: () => {} };

/** The AWS account that a stage runs in, which is the one of its table. */
const accountOf = async (client: DynamoDBClient, tableName: string): Promise<string> => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  const [, , , , account = ""] = (Table?.TableArn ?? "").split(":");
  return account;
};

/**
 * The ledger of a deployed stage, read and written as its functions do.
 * @param sender AWS account whose commands are meant; absent: the stage's own
 * @throws ExitError from every call when AWS does not let us do it
 */
export const stageCommandDesk = (
  stage: string,
  sender: string | undefined,
  clock: Clock,
): CommandDesk => {
  const tableName = stageResource(stage, "ledger");
  const client = createAwsClient(DynamoDBClient);
  const ledger = createDynamodbLedger({ client, tableName });
  const deps = {
    ledger,
    clock: awsClock(clock, client),
    log: terminalLog,
    metrics: countedNowhere,
  };

  const noTable = `there is no table ${tableName} in this AWS account and region`;
  const about = async <T>(
    id: string,
    act: (key: string, identity: { readonly sender: string; readonly id: string }) => Promise<T>,
  ): Promise<T> => {
    try {
      const identity = { sender: sender ?? (await accountOf(client, tableName)), id };
      return await act(commandKey(identity), identity);
    } catch (error) {
      throw awsTrouble(error, noTable);
    }
  };
  return {
    followsLater: "its event follows within a minute",
    look: (commandId) =>
      about(commandId, async (_key, identity) => {
        const state = await readState(ledger, { ...identity, now: deps.clock.now() });
        return state && requestStateSchema.parse(state);
      }),
    cancel: (commandId) => about(commandId, (key) => cancelCommand(deps, key)),
    async liftPause(account) {
      try {
        return await liftPause(deps, account);
      } catch (error) {
        throw awsTrouble(error, noTable);
      }
    },
    resolve: (commandId, finding) => about(commandId, (key) => resolveCommand(deps, key, finding)),
  };
};
