import { eventOf } from "../events/event.ts";
import { listedProblems } from "../events/listing.ts";
import { publish } from "../events/publish.ts";
import { commandKey, commands } from "../ledger/command.ts";
import type { CommandDeps } from "./deps.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { Rejection } from "./request.ts";

/** An operation name is quoted in the event; a sender's whole novel is not. */
const MAX_OPERATION_CHARACTERS = 100;

export type RejectDeps = Pick<
  CommandDeps,
  "bus" | "clock" | "fingerprintKey" | "ledger" | "log" | "metrics"
>;

/**
 * Tells that a request does not become a command. Changes nothing. A request without any id can
 * only be logged. It is counted when it is published: again, where a crash before the message was
 * acknowledged brings it again.
 * @param message the message as it came: the same message again is the same rejection
 * @throws Error when the bus did not take the event; the message comes again
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
  const fields = {
    reason,
    sender,
    problems: listedProblems(rejection.problems).map(({ path, rule }) => `${path}: ${rule}`),
  };
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
    time: deps.clock.now(),
    correlationId: rejection.correlationId ?? commandId,
    causationId: rejection.eventId ?? commandId,
    sender,
    ...(!isTaken && { commandId }),
    data: {
      operation: rejection.operation.slice(0, MAX_OPERATION_CHARACTERS),
      reason,
      problems: listedProblems(rejection.problems),
      ...(isTaken && { requestedCommandId: commandId }),
    },
  });
  const published = await publish({ bus: deps.bus, log }, [event]);
  if (published.size === 0) throw new Error("a rejection could not be published");
  deps.metrics.count("CommandEnded", { outcome: "rejected" });
};
