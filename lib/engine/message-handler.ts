import type { LogFields } from "../platform/ports/log.ts";
import { acceptRequest } from "./accept.ts";
import { type AttemptTime, advanceCommand } from "./advance.ts";
import { commands } from "./command.ts";
import { type CommandDeps, depsFor, errorFields, keyFields } from "./deps.ts";
import type { Message } from "./queue-message.ts";
import { rejectRequest } from "./rejection.ts";
import type { CommandRequest } from "./request.ts";

/** Log fields of the command that a message names. */
const fieldsOf = (message: Message): LogFields => {
  switch (message.kind) {
    case "request": {
      const { correlationId, commandId, sender, account, lane, operation } = message.request;
      return { correlationId, commandId, sender, account, lane, operation: operation.id };
    }
    case "resume":
      return { ...keyFields(message.command), lane: message.lane };
    case "rejected": {
      const { correlationId, commandId, sender } = message.rejection;
      return { correlationId, commandId, sender };
    }
    default:
      return message satisfies never;
  }
};

/**
 * Logs a failure of the work. Callers do not log it again, because they do not know the command.
 */
const logged = async <T>({ log }: CommandDeps, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    log.error("message not handled; the queue delivers it again", errorFields(error));
    throw error;
  }
};

const handleRequest = async (
  deps: CommandDeps,
  request: CommandRequest,
  body: string,
  time: AttemptTime,
): Promise<void> => {
  const acceptance = await acceptRequest(deps, request);
  if (acceptance.kind === "accepted") {
    return advanceCommand(deps, acceptance.stored, time, acceptance.lane);
  }
  const { sender, commandId, eventId, correlationId } = request;
  const operation = request.operation.id;
  const identity = { sender, operation, commandId, eventId, correlationId };
  return rejectRequest(deps, { ...acceptance, ...identity }, body);
};

/**
 * Handles one message. When it resolves, everything that the message caused is durable and it may be
 * acknowledged; when it rejects, the failure is logged and the message must be redelivered. Without time
 * for an attempt, the command only enters its lane, and a new message brings it back.
 * @param body the message as received
 */
export const handleMessage = async (
  deps: CommandDeps,
  message: Message,
  body: string,
  time: AttemptTime,
): Promise<void> => {
  const own = { ...deps, log: deps.log.with(fieldsOf(message)) };
  switch (message.kind) {
    case "rejected":
      return logged(own, () => rejectRequest(own, message.rejection, body));
    case "resume": {
      const stored = await logged(own, () => commands.read(deps.ledger, message.command));
      if (!stored) return;
      const its = depsFor(deps, stored.value);
      return logged(its, () => advanceCommand(its, stored, time));
    }
    case "request":
      return logged(own, () => handleRequest(own, message.request, body, time));
    default:
      return message satisfies never;
  }
};
