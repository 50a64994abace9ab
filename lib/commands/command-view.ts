import type { Problem } from "../contract/problem.ts";
import { type Command, isEnded, type SeenTag } from "../ledger/command.ts";
import type { JsonObject } from "../ports/ledger.ts";
import { createdBy } from "./command-events.ts";

/** A command as people and scripts look at it: without its request and its housekeeping. */
export interface CommandView {
  readonly commandId: string;
  readonly sender: string;
  readonly account: string;
  readonly operation: string;
  readonly params: JsonObject;
  readonly lane: string;
  readonly status: Command["state"]["status"];
  readonly outcome?: string;
  readonly reason?: string;
  readonly problems?: readonly Problem[];
  /** Requests sent to the provider so far. */
  readonly attempts: number;
  /** Why a command that goes on does not send now, or how its last attempt ended. */
  readonly lastError?: string;
  readonly after?: readonly string[];
  readonly dryRun?: boolean;
  /** Of a dry run: the request that would have been sent. */
  readonly wouldSend?: JsonObject;
  /** Of one that a guard has ended: the tag that was seen. */
  readonly tag?: SeenTag | null;
  readonly taskIds: readonly string[];
  /** Ids of what the tasks created, by kind. */
  readonly createdResources?: JsonObject;
  readonly acceptedAt: string;
  readonly deadline: string;
  readonly endedAt?: string;
}

const instant = (at: number): string => new Date(at).toISOString();

const tasksOf = ({ state }: Command) => ("tasks" in state ? state.tasks : []);

export const viewOf = (command: Command): CommandView => {
  const created = createdBy(tasksOf(command));
  const because = command.state.status === "running" ? command.state.because : undefined;
  const lastError = because ?? command.attempts.at(-1)?.code;
  return {
    commandId: command.id,
    sender: command.sender,
    account: command.account,
    operation: command.operation,
    params: command.params,
    lane: command.lane,
    status: command.state.status,
    ...(isEnded(command) && {
      endedAt: instant(command.state.endedAt),
      ...(command.state.outcome !== undefined && { outcome: command.state.outcome }),
      ...(command.state.reason !== undefined && { reason: command.state.reason }),
      ...(command.state.tag !== undefined && { tag: command.state.tag }),
      ...(command.state.wouldSend && { wouldSend: command.state.wouldSend }),
      ...(command.state.problems && { problems: command.state.problems }),
    }),
    ...(!isEnded(command) && lastError !== undefined && { lastError }),
    ...(command.after && { after: command.after }),
    ...(command.dryRun && { dryRun: command.dryRun }),
    attempts: command.attemptCount,
    taskIds: tasksOf(command).map(({ id }) => id),
    ...(created && { createdResources: created }),
    acceptedAt: instant(command.acceptedAt),
    deadline: instant(command.deadline),
  };
};
