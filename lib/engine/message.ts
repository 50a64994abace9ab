import type { LogFields } from "../platform/ports/log.ts";
import { acceptRequest } from "./accept.ts";
import { type AttemptTime, advanceCommand } from "./advance.ts";
import { commands } from "./command.ts";
import type { CommandDeps } from "./deps.ts";
import { depsFor, errorFields, keyFields } from "./log-fields.ts";
import { parseJson } from "./parse-json.ts";
import { readRequest } from "./read-request.ts";
import { rejectRequest } from "./reject.ts";
import type { CommandRequest, Rejection } from "./request.ts";
import { resumeSchema } from "./resume-message.ts";
import { openSealed } from "./sealed-request.ts";

/** A message of the command queue, understood as far as possible without asking anybody. */
export type Message =
  | { readonly kind: "request"; readonly request: CommandRequest; readonly lane: string }
  | { readonly kind: "resume"; readonly command: string; readonly lane: string }
  | { readonly kind: "rejected"; readonly rejection: Rejection; readonly lane?: never };

/** Reads a message body. Pure. What intake has not sealed comes from our own AWS account. */
export const readMessage = (
  body: string,
  deps: Pick<CommandDeps, "access" | "ownSender" | "fingerprintKey">,
): Message => {
  const json = parseJson(body);
  const resume = resumeSchema.safeParse(json);
  if (resume.success) return { kind: "resume", ...resume.data.resume };
  const sealed = openSealed(json, deps.fingerprintKey);
  const { access, ownSender } = deps;
  const read = sealed
    ? readRequest(parseJson(sealed.detail), { ...sealed, access })
    : readRequest(json, { sender: ownSender, access });
  return read.kind === "valid"
    ? { kind: "request", request: read.request, lane: read.request.lane }
    : { kind: "rejected", rejection: read.rejection };
};

/** Whose the lines about a message are, as far as the message shows. */
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

/** Work on a message; what fails is logged here, where it is known whose it is, and nowhere above. */
const working = async <T>({ log }: CommandDeps, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    log.error("message not handled, it comes again", errorFields(error));
    throw error;
  }
};

const takeUp = async (
  deps: CommandDeps,
  request: CommandRequest,
  body: string,
  time: AttemptTime,
): Promise<void> => {
  const acceptance = await acceptRequest(deps, request);
  if (acceptance.kind === "accepted") return advanceCommand(deps, acceptance.stored, time);
  const { sender, commandId, eventId, correlationId } = request;
  const operation = request.operation.id;
  const identity = { sender, operation, commandId, eventId, correlationId };
  return rejectRequest(deps, { ...acceptance, ...identity }, body);
};

/**
 * Handles one message. When it resolves, everything that the message caused is durable and it may
 * be acknowledged; when it rejects, which is logged, the message must come again. Without time for an
 * attempt the command is accepted and enters its lane, and a new message brings it back.
 * @param body the message as it came
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
      return working(own, () => rejectRequest(own, message.rejection, body));
    case "resume": {
      const stored = await working(own, () => commands.read(deps.ledger, message.command));
      if (!stored) return;
      const its = depsFor(deps, stored.value);
      return working(its, () => advanceCommand(its, stored, time));
    }
    case "request":
      return working(own, () => takeUp(own, message.request, body, time));
    default:
      return message satisfies never;
  }
};
