import type { CommandDeps } from "../deps.ts";
import { keyFields } from "../log-fields.ts";
import type { Task } from "../task.ts";

/** The same deps with a log whose lines name the task and the command that waits for it. */
export const depsOfTask = (deps: CommandDeps, { command, account, id, operation }: Task) => ({
  ...deps,
  log: deps.log.with({ ...keyFields(command), account, operation, taskId: id }),
});
