import { DescribeTableCommand, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Verdict } from "../../admin/answers.ts";
import { cancelMatching, previewCancel } from "../../admin/bulk-cancel.ts";
import {
  type BoundedQuery,
  type BulkQuery,
  type ListQuery,
  listCommands,
} from "../../admin/list.ts";
import { cancelCommand, liftPause, resolveCommand } from "../../admin/operator-actions.ts";
import { readState } from "../../admin/status.ts";
import { commandKey } from "../../engine/command.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import type { Metrics } from "../../platform/ports/metrics.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { terminalLog } from "../render.ts";
import { requestStateSchema } from "../request-state.ts";
import { openStageLedger } from "./stage-ledger.ts";

/** Metrics are log lines of functions, and no function runs here. */
const noMetrics: Metrics = { count: () => {}, measure: () => {} };

/** The AWS account of the stage, from the ARN of its table. */
const accountOf = async (client: DynamoDBClient, tableName: string): Promise<string> => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  const [, , , , account = ""] = (Table?.TableArn ?? "").split(":");
  return account;
};

/** Whether the table lacks an index, or DynamoDB still builds it. No other query here is invalid. */
const isWithoutIndex = (error: unknown): boolean =>
  error instanceof Error && error.name === "ValidationException" && /index/.test(error.message);

const noIndex = (tableName: string): ExitError =>
  new ExitError(
    EXIT.refused,
    `the table ${tableName} has no complete index list; deploy this version of Skyhook, or try again in a few minutes if it is deployed`,
  );

/**
 * The commands of a deployed stage. Reads and writes the ledger by the same code as the functions. Every method
 * throws an ExitError when AWS does not answer or refuses.
 * @param sender AWS account of the commands; default: the stage's own
 */
export const stageCommands = (stage: string, sender: string | undefined, clock: Clock) => {
  const { tableName, client, ledger, trouble, ...opened } = openStageLedger(stage, clock);
  const deps = { ledger, clock: opened.clock, log: terminalLog, metrics: noMetrics };

  let learnedTime: Promise<unknown> | undefined;
  /** Makes a call, because AWS's time is unknown before its first reply. */
  const learnTime = async (): Promise<void> => {
    learnedTime ??= ledger.read("none#");
    await learnedTime;
  };
  const withTrouble = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw trouble(error);
    });
  const identityOf = async (id: string) => ({
    sender: sender ?? (await accountOf(client, tableName)),
    id,
  });
  const about = <T>(id: string, work: (key: string) => Promise<T>): Promise<T> =>
    withTrouble(identityOf(id).then((identity) => work(commandKey(identity))));
  const listing = <T>(work: () => Promise<T>): Promise<T> =>
    withTrouble(
      learnTime()
        .then(work)
        .catch((error: unknown) => {
          throw isWithoutIndex(error) ? noIndex(tableName) : error;
        }),
    );
  return {
    followsLater: "the poller publishes its event within a minute",
    look: (commandId: string) =>
      withTrouble(
        identityOf(commandId).then(async (identity) => {
          const state = await readState(ledger, { ...identity, now: deps.clock.now() });
          return state && requestStateSchema.parse(state);
        }),
      ),
    list: (query: ListQuery) => listing(() => listCommands(ledger, query, deps.clock.now())),
    cancel: (commandId: string, from?: string) =>
      from === undefined
        ? about(commandId, (key) => cancelCommand(deps, key))
        : withTrouble(cancelCommand(deps, commandKey({ sender: from, id: commandId }))),
    previewCancel: (query: BulkQuery) => listing(() => previewCancel(deps, query)),
    cancelMatching: (query: BoundedQuery) =>
      listing(() => cancelMatching(deps, query, (key) => cancelCommand(deps, key))),
    liftPause: (account: string) => withTrouble(liftPause(deps, account)),
    resolve: (commandId: string, verdict: Verdict) =>
      about(commandId, (key) => resolveCommand(deps, key, verdict)),
  };
};
