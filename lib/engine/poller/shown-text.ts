import { commandedOperation } from "../../contract/operations.ts";
import { clipped } from "../../events/listing.ts";
import { commands } from "../command.ts";
import type { CommandDeps } from "../deps.ts";
import { redactorOf } from "../redaction.ts";
import { type Task, taskKey, tasks } from "../task.ts";

/** Instead of a text of which nobody can tell what is secret in it. */
export const NOT_SHOWN =
  "the task failed; the provider's text may hold somebody's secrets and is not shown";

/** The text without the secrets of the command that the task belongs to. */
const redacted = async (
  deps: CommandDeps,
  { command: key, operation }: Task,
  text: string,
): Promise<string> => {
  const command = await commands.read(deps.ledger, key);
  const redact = redactorOf(commandedOperation(operation), command?.value.request);
  return clipped(redact(text));
};

/** What its followers may know is what the command that started the task may tell. */
const shownToFollower = async (
  deps: CommandDeps,
  { account, id }: Task,
  text: string,
): Promise<string> => {
  const started = (await tasks.read(deps.ledger, taskKey({ account, id })))?.value;
  // The key of another task's follower may read like that of a task.
  if (started?.id !== id || started.sharedAs) return NOT_SHOWN;
  const { state } = started;
  // The request is erased soon after, and with it what would tell its secrets.
  if (state.status === "failed" && state.message !== undefined) return state.message;
  return redacted(deps, started, text);
};

/**
 * What may be told of the provider's error text, which may quote the request that started the task.
 * Of a task that none of our commands started, or several, nobody knows whose secrets are in it.
 */
export const shownText = async (deps: CommandDeps, task: Task, text: string): Promise<string> => {
  if (task.sharedAs) return NOT_SHOWN;
  return task.followedBy === undefined
    ? redacted(deps, task, text)
    : shownToFollower(deps, task, text);
};
