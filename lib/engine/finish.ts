import { publish } from "../events/publish.ts";
import { type Command, commandKey, commands } from "./command.ts";
import { markPublished, settle } from "./command-transitions.ts";
import type { CommandDeps } from "./deps.ts";
import { lanes, leaveLane } from "./lane.ts";
import { resumeMessage } from "./resume-message.ts";
import { abandonTask, taskKey, tasks } from "./task.ts";

/** Passes the lane of an ended command to the next one, and calls that one. */
export const handOver = async (deps: CommandDeps, lane: string, key: string): Promise<void> => {
  const before = await lanes.read(deps.ledger, lane);
  const after = await lanes.change(deps.ledger, lane, (current) =>
    leaveLane(current, key, deps.clock.now()),
  );
  const next = after.value.holder;
  if (next !== undefined && next !== before?.value.holder) {
    await deps.queue.send(resumeMessage(next, lane, deps.random));
  }
};

/** Stops the checks of tasks after an operator cancelled their follow-task. Repeatable. */
export const leaveTasks = async (
  { ledger, clock }: Pick<CommandDeps, "ledger" | "clock">,
  { account, sender, id, state }: Command,
): Promise<void> => {
  if (state.status !== "cancelled") return;
  const command = commandKey({ sender, id });
  for (const task of state.tasks) {
    const key = taskKey({ account, id: task.id, command, followedBy: sender });
    if (await tasks.read(ledger, key)) {
      await tasks.update(ledger, key, (current) => abandonTask(current, clock.now()));
    }
  }
};

/**
 * Everything after the end is recorded: pass the lane on, publish, leave tasks that are not followed
 * to their end, and forget the due time. Each
 * step may be repeated; what does not succeed is done again by the poller.
 */
export const finishCommand = async (deps: CommandDeps, command: Command): Promise<void> => {
  const key = commandKey(command);
  await handOver(deps, command.lane, key);
  const published = await publish(deps, command.outbox);
  await leaveTasks(deps, command);
  await commands.update(deps.ledger, key, (current) => settle(markPublished(current, published)));
};
