import type { Admin } from "../../admin/admin.ts";
import { cancelMatching, previewCancel } from "../../admin/bulk-cancel.ts";
import { type EventSource, recordedSource } from "../../admin/event-stream.ts";
import { listCommands } from "../../admin/list.ts";
import { readOpenWork } from "../../admin/open.ts";
import { cancelCommand, liftPause, resolveCommand } from "../../admin/operator-actions.ts";
import { recordedEvents } from "../../admin/recorded-events.ts";
import { readState } from "../../admin/status.ts";
import { commandKey } from "../../engine/command.ts";
import type { Metrics } from "../../platform/ports/metrics.ts";
import { terminalLog } from "../render.ts";
import type { StageLedger } from "./stage-ledger.ts";

/** Metrics are log lines of functions, and no function runs here. */
const noMetrics: Metrics = { count: () => {}, measure: () => {} };

type StageCommands = Pick<
  Required<Admin>,
  "events" | "bulkCancel" | "cancel" | "liftPause" | "list" | "look" | "open" | "resolve"
>;

/** What commands record, because EventBridge has no live read. */
const stageEvents = ({ ledger, clock, learnTime, trouble }: StageLedger): EventSource =>
  recordedSource(async function* (start) {
    try {
      await learnTime();
      yield* recordedEvents({ ledger, clock }, start);
    } catch (error) {
      throw trouble(error);
    }
  });

/**
 * The commands of a deployed stage. Reads and writes the ledger by the same code as the functions. Every method
 * throws an ExitError when AWS does not answer or refuses.
 */
export const stageCommands = (stage: StageLedger): StageCommands => {
  const { ledger, clock, at, awsAccount } = stage;
  const deps = { ledger, clock, log: terminalLog, metrics: noMetrics };
  const keyOf = async ({ sender, id }: Parameters<Admin["cancel"]>[0]): Promise<string> =>
    commandKey({ sender: sender ?? (await awsAccount()), id });
  return {
    events: stageEvents(stage),
    list: (query) => at(() => listCommands(ledger, query, clock.now())),
    look: ({ id, ...command }, eventId) =>
      at(async () => {
        const sender = command.sender ?? (await awsAccount());
        return readState(ledger, { sender, id, now: clock.now() }, eventId);
      }),
    open: () => at(() => readOpenWork(ledger, clock.now())),
    cancel: (command) => at(async () => cancelCommand(deps, await keyOf(command))),
    bulkCancel: {
      preview: (query) => at(() => previewCancel(deps, query)),
      apply: (query) => at(() => cancelMatching(deps, query, (key) => cancelCommand(deps, key))),
    },
    resolve: (command, verdict) =>
      at(async () => resolveCommand(deps, await keyOf(command), verdict)),
    liftPause: (account) => at(() => liftPause(deps, account)),
  };
};
