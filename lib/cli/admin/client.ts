import type { Command } from "commander";
import type { Admin } from "../../admin/admin.ts";
import type { CancelAnswer, LiftAnswer, ResolveAnswer, Verdict } from "../../admin/answers.ts";
import type { BulkPage } from "../../admin/bulk-cancel.ts";
import type { BoundedQuery, BulkQuery, ListPage, ListQuery } from "../../admin/list-query.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import { runAddress } from "../endpoint.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { visibleText } from "../render.ts";
import type { RequestState } from "../request-schema.ts";
import {
  checkedStage,
  endpointOption,
  notEmpty,
  type Ports,
  stageOption,
  stageRights,
} from "../verb.ts";
import { createGatewayClient } from "./gateway.ts";

/**
 * The commands of a running Skyhook, or of a deployed stage. Each method returns undefined for an unknown
 * command or account.
 */
export interface CommandAdmin {
  look(commandId: string): Promise<RequestState | undefined>;
  list(query: ListQuery): Promise<ListPage>;
  /** @param from sender of the command; default: that of this client */
  cancel(commandId: string, from?: string): Promise<CancelAnswer | undefined>;
  /** What `cancelMatching` would do to a page of commands. */
  previewCancel(query: BulkQuery): Promise<BulkPage>;
  cancelMatching(query: BoundedQuery): Promise<BulkPage>;
  resolve(commandId: string, verdict: Verdict): Promise<ResolveAnswer | undefined>;
  /** Ends the pause that the provider requested for an account. */
  liftPause(account: string): Promise<LiftAnswer | undefined>;
  /** A note on when events and lanes follow a change; absent: at once. */
  readonly followsLater?: string;
}

/** The dead letters of a running Skyhook, or of a deployed stage. */
export type DeadLetterAdmin = Admin["deadLetters"];

/** The recorded prices of a running Skyhook, or of a deployed stage. */
export type PriceAdmin = Pick<Admin["prices"], "changes" | "history" | "list">;

/** The target of an admin command. A stage overrides an endpoint, which may come from the environment. */
interface AdminFlags {
  readonly endpoint?: string;
  readonly stage?: string;
  readonly json?: boolean;
}

export interface CommandFlags extends AdminFlags {
  /** AWS account of the sender; default: Skyhook's own. */
  readonly sender?: string;
}

export interface DeadLetterFlags extends AdminFlags {
  readonly accounts?: string;
}

/** Adds the options of `AdminFlags`. */
export const withAdminOptions = (command: Command): Command =>
  command.option("--json", "print JSON").addOption(endpointOption()).addOption(stageOption());

/** Adds the argument and the options of a verb for one command. */
export const withCommandOptions = (command: Command): Command =>
  withAdminOptions(
    command
      .argument("<command-id>", "id that `skyhook send` printed, or that --id gave it", notEmpty)
      .option("--sender <aws-account>", "sender of the command (default: Skyhook's AWS account)"),
  );

/** Text for the description of a verb that changes a command of a stage. */
export const STAGE_WRITE_RIGHTS = stageRights(
  "dynamodb:GetItem and dynamodb:PutItem on the table skyhook-STAGE-ledger, and dynamodb:DescribeTable unless --sender is given",
);

/** Loads the AWS SDK only for a stage, because that takes longer than a whole call of a running Skyhook. */
export const openCommandAdmin = async (
  { endpoint, stage, sender }: CommandFlags,
  clock: Clock,
): Promise<CommandAdmin> => {
  if (stage === undefined) return createGatewayClient(runAddress(endpoint), sender);
  const name = checkedStage(stage);
  const { openStageLedger } = await import("./stage-ledger.ts");
  const { stageCommands } = await import("./stage-commands.ts");
  const { requestStateSchema } = await import("../request-schema.ts");
  const { look, cancel, bulkCancel, resolve, ...admin } = stageCommands(
    openStageLedger(name, clock),
  );
  return {
    ...admin,
    followsLater: "the poller publishes its event within a minute",
    async look(id) {
      const state = await look({ id, sender });
      return state && requestStateSchema.parse(state);
    },
    cancel: (id, from = sender) => cancel({ id, sender: from }),
    previewCancel: bulkCancel.preview,
    cancelMatching: bulkCancel.apply,
    resolve: (id, verdict) => resolve({ id, sender }, verdict),
  };
};

/** As `openCommandAdmin`. */
export const openDeadLetterAdmin = async (
  { endpoint, stage, accounts: file }: DeadLetterFlags,
  ports: Ports,
): Promise<DeadLetterAdmin> => {
  if (stage === undefined) {
    if (file === undefined) return createGatewayClient(runAddress(endpoint)).deadLetters;
    const text = "--accounts: only with --stage; a running Skyhook uses its own accounts file";
    throw new ExitError(EXIT.refused, text);
  }
  const name = checkedStage(stage);
  const { readAccounts } = await import("../config-files.ts");
  const accounts = file === undefined ? undefined : readAccounts(file);
  const { openStageLedger } = await import("./stage-ledger.ts");
  const { stageDeadLetters } = await import("./stage-dead-letters.ts");
  const stageLedger = openStageLedger(name, ports.clock);
  return stageDeadLetters(stageLedger, { stage: name, accounts, random: ports.random });
};

/** As `openCommandAdmin`. */
export const openPriceAdmin = async (
  { endpoint, stage }: Pick<AdminFlags, "endpoint" | "stage">,
  ports: Ports,
): Promise<PriceAdmin> => {
  if (stage === undefined) return createGatewayClient(runAddress(endpoint)).prices;
  const name = checkedStage(stage);
  const { openStageLedger } = await import("./stage-ledger.ts");
  const { stageJobs } = await import("./stage-jobs.ts");
  return stageJobs(openStageLedger(name, ports.clock), name, ports).prices;
};

export const noSuchCommand = (commandId: string): ExitError =>
  new ExitError(
    EXIT.refused,
    `no command ${visibleText(commandId)} found: it was never sent, is still queued, or was rejected; check the id and --sender`,
  );
