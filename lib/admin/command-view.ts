import type { Problem } from "../contract/problem.ts";
import { followTask } from "../contract/tasks.ts";
import type { NumberedAttempt } from "../engine/attempt-history.ts";
import {
  type Command,
  type FollowedTask,
  isEnded,
  type Resolution,
  type SeenTag,
} from "../engine/command.ts";
import { createdBy } from "../engine/command-events.ts";
import type { Rejected } from "../engine/rejection.ts";
import { isoText } from "../events/event.ts";
import type { JsonObject } from "../platform/ports/ledger.ts";
import { type TaskView, tasksOf } from "./command-tasks.ts";
import { type DerivedEvent, rejectionEvents } from "./derived-events.ts";
import { type StoredRequest, storedRequest } from "./redacted-request.ts";

/** What an open command waits for. */
export type WaitsFor =
  /** Commands ahead in its lane, which `holder` holds. */
  | {
      readonly for: "lane";
      readonly ahead: number;
      readonly holder?: { readonly sender: string; readonly commandId: string };
    }
  /** Those commands of `after` that have not ended. */
  | { readonly for: "others"; readonly commandIds: readonly string[] }
  /** A request is in flight; its result is known by `until` at the latest. */
  | { readonly for: "reply"; readonly until: string }
  /** The next attempt; `because`: reason for the delay, unless the last attempt shows it. */
  | { readonly for: "next-attempt"; readonly until: string; readonly because?: string }
  | {
      readonly for: "tasks";
      readonly taskIds: readonly string[];
      /** Tasks for which the provider answers 404; Skyhook gives each up at `until`. */
      readonly unknown?: readonly {
        readonly taskId: string;
        readonly since: string;
        readonly until: string;
      }[];
    };

/** Action that an operator can take on the command now. */
type OperatorAction =
  | "cancel"
  | "resolve"
  | "follow-task"
  | "check-task-id"
  | "check-effect"
  | "send-again";

/** A request that was sent or is in flight. `disposition` is `lost` if its process died. */
type AttemptView = Omit<NumberedAttempt, "startedAt" | "endedAt"> & {
  readonly startedAt: string;
  /** For a lost request: when the loss was detected. */
  readonly endedAt?: string;
};

/** The public view of a command, without secrets and internal fields. */
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
  /** Requests sent to the provider. */
  readonly attempts: number;
  /** Requests without a reply. */
  readonly lostReplies: number;
  /** Reason why an open command does not send now, or error code of its last attempt. */
  readonly lastError?: string;
  readonly after?: readonly string[];
  /** Conditions on tags, as requested. */
  readonly guards?: readonly JsonObject[];
  readonly dryRun?: boolean;
  /** The request that a dry run would have sent. */
  readonly wouldSend?: JsonObject;
  /** The tag that a guard found when it ended the command; null: no such tag. */
  readonly tag?: SeenTag | null;
  readonly taskIds: readonly string[];
  /** The tasks of `taskIds` with their results. */
  readonly tasks: readonly TaskView[];
  /** Ids of the resources that the tasks created, by kind. */
  readonly createdResources?: JsonObject;
  readonly acceptedAt: string;
  readonly deadline: string;
  readonly endedAt?: string;
  /** Every attempt, the oldest first. */
  readonly history: readonly AttemptView[];
  /** Published events, and those that wait for it; the oldest first. */
  readonly events: readonly DerivedEvent[];
  /** What the ledger has of the request. */
  readonly request: StoredRequest;
  readonly waitsFor?: WaitsFor;
  /** For an open command: end of the pause that the provider requested for its account. */
  readonly accountPausedUntil?: string;
  /** Whether an earlier request may have taken effect. */
  readonly isUncertain: boolean;
  /** When an operator cancelled it. */
  readonly cancelRequestedAt?: string;
  /** An operator's verdict on an unknown outcome. */
  readonly resolution?: Omit<Resolution, "resolvedAt"> & { readonly resolvedAt: string };
  readonly personCan: readonly OperatorAction[];
}

const attemptView = ({ startedAt, endedAt, ...kept }: NumberedAttempt): AttemptView => ({
  ...kept,
  startedAt: isoText(startedAt),
  ...(endedAt !== undefined && { endedAt: isoText(endedAt) }),
});

/** Actions after a follow-task has ended; none if the results of all its tasks are known. */
const actionsAfterFollowing = (tasks: readonly FollowedTask[]): readonly OperatorAction[] => {
  if (tasks.length === 0) return ["send-again"];
  const ends = tasks.map(({ end }) => end?.kind);
  if (ends.includes(undefined)) return ["follow-task"];
  return ends.includes("unknown") ? ["check-task-id"] : [];
};

const actionsOn = (command: Command): readonly OperatorAction[] => {
  const { state, resolution, operation } = command;
  if (state.status === "following" && operation === followTask.id) return ["cancel"];
  if (state.status === "following" || state.status === "succeeded") return [];
  if (!isEnded(command)) return ["cancel"];
  if (command.state.reason === "unknown-outcome") {
    if (!resolution) return ["resolve"];
    return resolution.applied ? [] : ["send-again"];
  }
  if (command.state.reason === "requested") return [];
  if (operation === followTask.id) return actionsAfterFollowing(command.state.tasks);
  const ends = tasksOf(command).map(({ end }) => end?.kind);
  // A task that is unknown to the provider may have had its effect, so that a resend could create twice.
  const left: readonly OperatorAction[] = [
    ...(ends.includes(undefined) ? (["follow-task"] as const) : []),
    ...(ends.includes("unknown") ? (["check-effect"] as const) : []),
  ];
  return left.length > 0 ? left : ["send-again"];
};

const endOf = (command: Command): Partial<CommandView> => {
  if (!isEnded(command)) return {};
  const { endedAt, outcome, reason, tag, wouldSend, problems } = command.state;
  return {
    endedAt: isoText(endedAt),
    ...(outcome !== undefined && { outcome }),
    ...(reason !== undefined && { reason }),
    ...(tag !== undefined && { tag }),
    ...(wouldSend && { wouldSend }),
    ...(problems && { problems }),
  };
};

const operatorFields = ({ cancelRequestedAt, resolution }: Command): Partial<CommandView> => ({
  ...(cancelRequestedAt !== undefined && { cancelRequestedAt: isoText(cancelRequestedAt) }),
  ...(resolution && {
    resolution: { ...resolution, resolvedAt: isoText(resolution.resolvedAt) },
  }),
});

/** @param related state of the command from other ledger items */
export const viewOf = (
  command: Command,
  related: {
    readonly attempts: readonly NumberedAttempt[];
    readonly tasks: readonly TaskView[];
    readonly events: readonly DerivedEvent[];
    readonly waitsFor: WaitsFor | undefined;
    /** Epoch ms. */
    readonly pausedUntil: number | undefined;
  },
): CommandView => {
  const { attempts, tasks, events, waitsFor, pausedUntil } = related;
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
    ...endOf(command),
    ...(!isEnded(command) && lastError !== undefined && { lastError }),
    ...(command.after && { after: command.after }),
    ...(command.guards && { guards: command.guards }),
    ...(command.dryRun && { dryRun: command.dryRun }),
    attempts: command.attemptCount,
    lostReplies: command.lostReplies,
    taskIds: tasksOf(command).map(({ id }) => id),
    tasks,
    ...(created && { createdResources: created }),
    acceptedAt: isoText(command.acceptedAt),
    deadline: isoText(command.deadline),
    history: attempts.map(attemptView),
    events,
    request: storedRequest(command),
    ...(waitsFor && { waitsFor }),
    ...(pausedUntil !== undefined && { accountPausedUntil: isoText(pausedUntil) }),
    isUncertain: command.uncertain !== undefined,
    ...operatorFields(command),
    personCan: actionsOn(command),
  };
};

/** A rejected request; `problems` holds the first of its `problemCount` problems. */
export type RejectionView = Omit<Rejected, "digest" | "publishedAs" | "rejectedAt"> & {
  readonly rejectedAt: string;
  readonly events: readonly DerivedEvent[];
};

export const rejectionView = (rejected: Rejected): RejectionView => {
  const { digest: _, publishedAs: __, rejectedAt, ...shown } = rejected;
  return { ...shown, rejectedAt: isoText(rejectedAt), events: rejectionEvents(rejected) };
};
