import type { Log, LogFields } from "../platform/ports/log.ts";
import { type Command, splitCommandKey } from "./command.ts";

/** Whose a line is while nothing but the command's key is known. */
export const keyFields = (commandKey: string): LogFields => {
  const { sender, id } = splitCommandKey(commandKey);
  return { commandId: id, sender };
};

/** What an unforeseen error says of itself, with the place in our own code. */
export const errorFields = (error: unknown): LogFields =>
  error instanceof Error
    ? { errorKind: error.name, errorMessage: error.message, stack: error.stack }
    : { errorKind: "unknown", errorMessage: String(error) };

/** The same deps with a log whose lines name the command: many are worked on side by side. */
export const depsFor = <D extends { readonly log: Log }>(deps: D, command: Command): D => {
  const { correlationId, id, sender, account, lane, operation } = command;
  const fields = { correlationId, commandId: id, sender, account, lane, operation };
  return { ...deps, log: deps.log.with(fields) };
};
