import { eventOf, listedProblems } from "../events/event.ts";
import { publish } from "../events/publish.ts";
import { commandKey, commands } from "./command.ts";
import type { CommandDeps } from "./deps.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { type Rejected, recordRejection } from "./rejection.ts";
import type { Rejection } from "./request.ts";

/** An operation name is quoted in the event; a sender's whole novel is not. */
const MAX_OPERATION_CHARACTERS = 100;

export type RejectDeps = Pick<
  CommandDeps,
  "bus" | "clock" | "fingerprintKey" | "ledger" | "log" | "metrics"
>;

/** When the request was rejected first, epoch ms: a repeated delivery finds the first one's record. */
const recordedAt = async (
  { ledger, clock, log, fingerprintKey }: RejectDeps,
  { sender, commandId, eventId, operation, reason, problems }: Rejection,
  message: string,
): Promise<number> => {
  const rejection: Rejected = {
    digest: fingerprintOf([sender, commandId ?? null, reason, message], fingerprintKey),
    ...(eventId !== undefined && { eventId }),
    ...(commandId !== undefined && { commandId }),
    operation,
    reason,
    problems: [...problems],
    problemCount: problems.length,
    rejectedAt: clock.now(),
  };
  const known = await recordRejection(ledger, sender, rejection);
  if (!known) log.warn("rejection not recorded, its sender has too many in this hour", { sender });
  return (known ?? rejection).rejectedAt;
};

/**
 * Records that a request does not become a command, then publishes it; no command changes. A request
 * without any id is recorded and logged only. A rejection is counted when it is published: again,
 * where a crash before the message was acknowledged brings it again.
 * @param message the message as it came: the same message again is the same rejection
 * @throws Error when the ledger fails or the bus did not take the event; the message comes again
 */
export const rejectRequest = async (
  deps: RejectDeps,
  rejection: Rejection,
  message: string,
): Promise<void> => {
  const { sender, commandId, reason } = rejection;
  if (reason === "not-allowed") deps.metrics.count("CommandNotAllowed");
  const log = deps.log.with({
    correlationId: rejection.correlationId ?? commandId,
    commandId,
  });
  const problems = listedProblems(rejection.problems);
  const fields = {
    reason,
    sender,
    problems: problems.map(({ path, rule }) => `${path}: ${rule}`),
  };
  const time = await recordedAt({ ...deps, log }, rejection, message);
  if (commandId === undefined) {
    log.warn("request rejected, and its sender cannot be told: it has no id", fields);
    return;
  }
  log.info("request rejected", fields);
  const key = commandKey({ sender, id: commandId });
  // Nobody may take this for the end of the command that has the id already. Told before there was
  // such a command, and again after, the rejection reads differently: that is another event.
  const isTaken = (await commands.read(deps.ledger, key)) !== undefined;
  const identity = [key, reason, fingerprintOf(message, deps.fingerprintKey)];
  const event = eventOf({
    detailType: "CommandRejected",
    identity: [...identity, ...(isTaken ? ["taken"] : [])],
    subject: key,
    time,
    correlationId: rejection.correlationId ?? commandId,
    causationId: rejection.eventId ?? commandId,
    sender,
    ...(!isTaken && { commandId }),
    data: {
      operation: rejection.operation.slice(0, MAX_OPERATION_CHARACTERS),
      reason,
      problems,
      ...(isTaken && { requestedCommandId: commandId }),
    },
  });
  const published = await publish({ bus: deps.bus, log }, [event]);
  if (published.size === 0) throw new Error("a rejection could not be published");
  deps.metrics.count("CommandEnded", { outcome: "rejected" });
};
