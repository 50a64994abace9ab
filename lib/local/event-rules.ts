import {
  type EventPattern,
  matchesPattern,
  readPattern,
} from "../intake/event-patterns/pattern.ts";
import type { Reaction } from "../intake/reaction.ts";
import type { JsonObject } from "../platform/ports/ledger.ts";
import type { AwsAccount } from "../provider/accounts-config.ts";
import type { BusEvent } from "./bus-records.ts";
import type { LocalBus } from "./local-bus.ts";
import { LOCAL_SENDER } from "./own-account.ts";

/** Both buses of our own AWS account: Skyhook's, and the one where AWS services put their events. */
export interface Buses {
  readonly bus: LocalBus;
  readonly defaultBus: LocalBus;
}

/** @throws Error for a pattern that EventBridge would refuse */
const patternOf = (source: JsonObject): EventPattern => {
  const read = readPattern(source);
  if (read.kind === "valid") return read.pattern;
  throw new Error(`no event pattern: ${read.problems.map(({ rule }) => rule).join("; ")}`);
};

/** As infra/event-rules.cjs has it: our own events are ours only if they are of our AWS account. */
const reactionPattern = ({ when }: Reaction, eventSource: string): EventPattern => {
  const [only] = Array.isArray(when.source.source) ? when.source.source : [];
  return only === eventSource ? patternOf({ ...when.source, account: [LOCAL_SENDER] }) : when;
};

/** A rule of a bus whose target is the queue of intake. */
export interface IntakeRule {
  /** The name of the reaction; absent for the rule of events that ask for a command themselves. */
  readonly reaction?: string;
  readonly onDefaultBus: boolean;
  readonly pattern: EventPattern;
}

/** The rules that infra/event-rules.cjs makes in the cloud. */
export const intakeRules = (options: {
  readonly reactions: readonly Reaction[];
  readonly eventSource: string;
}): readonly IntakeRule[] => {
  const { reactions, eventSource } = options;
  const requested = patternOf({
    source: [{ "anything-but": [eventSource] }],
    "detail-type": ["CommandRequested", "TaskFollowRequested"],
  });
  return [
    { onDefaultBus: false, pattern: requested },
    ...reactions.map((reaction) => ({
      reaction: reaction.name,
      onDefaultBus: reaction.bus === "default",
      pattern: reactionPattern(reaction, eventSource),
    })),
  ];
};

/** What a rule sends to intake. */
export const intakeCall = ({ reaction }: IntakeRule, event: BusEvent): unknown =>
  reaction === undefined ? event : { reaction, event };

const subscriberPattern = (awsAccount: string, eventSource: string): EventPattern =>
  patternOf({
    source: [eventSource],
    account: [LOCAL_SENDER],
    "detail-type": [{ prefix: "Command" }, { prefix: "Task" }],
    detail: { metadata: { sender: [awsAccount] } },
  });

/** As infra/event-rules.cjs: the events of each other AWS account's commands go to its bus. */
export const forwardedTo = (
  event: BusEvent,
  options: { readonly awsAccounts: readonly AwsAccount[]; readonly eventSource: string },
): readonly string[] =>
  options.awsAccounts
    .filter(
      ({ id, bus }) =>
        bus !== undefined &&
        matchesPattern(subscriberPattern(id, options.eventSource), { ...event }),
    )
    .map(({ id }) => id);
