import type { RuleOutcome } from "../admin/answers.ts";
import { readCall } from "../intake/bus-event.ts";
import {
  type EventPattern,
  matchesPattern,
  mismatchedFields,
  readPattern,
} from "../intake/event-patterns/pattern.ts";
import { type IntakeDeps, readEventRequest } from "../intake/ingest.ts";
import type { Reaction } from "../intake/reaction.ts";
import type { JsonObject } from "../platform/ports/ledger.ts";
import type { AccountsConfig, AwsAccount } from "../provider/accounts-config.ts";
import type { BusEvent, BusHandler, LocalBus, PutEvent } from "./local-bus.ts";
import { LOCAL_SENDER } from "./local-sender.ts";

/** Both buses of Skyhook's AWS account: its own, and the default bus with the events of AWS services. */
interface Buses {
  readonly bus: LocalBus;
  readonly defaultBus: LocalBus;
}

/** @throws Error for a pattern that EventBridge would refuse */
const patternOf = (source: JsonObject): EventPattern => {
  const read = readPattern(source);
  if (read.kind === "valid") return read.pattern;
  throw new Error(`invalid event pattern: ${read.problems.map(({ rule }) => rule).join("; ")}`);
};

/** The pattern of infra/event-rules.cjs: Skyhook's own events have to come from its own AWS account. */
const reactionPattern = ({ when }: Reaction, eventSource: string): EventPattern => {
  const [only] = Array.isArray(when.source.source) ? when.source.source : [];
  return only === eventSource ? patternOf({ ...when.source, account: [LOCAL_SENDER] }) : when;
};

/** A rule of a bus with the queue of intake as target. */
interface IntakeRule {
  /** Name of the reaction; absent for the rule of `CommandRequested` and `TaskFollowRequested`. */
  readonly reaction?: string;
  readonly onDefaultBus: boolean;
  readonly pattern: EventPattern;
}

/** The rules that infra/event-rules.cjs makes in the cloud. */
const intakeRules = (options: {
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

/** The call that a rule sends to intake. */
const intakeCall = ({ reaction }: IntakeRule, event: BusEvent): unknown =>
  reaction === undefined ? event : { reaction, event };

const subscriberPattern = (awsAccount: string, eventSource: string): EventPattern =>
  patternOf({
    source: [eventSource],
    account: [LOCAL_SENDER],
    "detail-type": [{ prefix: "Command" }, { prefix: "Task" }],
    detail: { metadata: { sender: [awsAccount] } },
  });

/** AWS accounts with a bus for the event, as in infra/event-rules.cjs: each gets events of its own commands. */
const forwardedTo = (
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

/** Configuration of the routes; `replace` changes it for the next event. */
interface RouteConfig {
  readonly accounts: AccountsConfig;
  readonly reactions: readonly Reaction[];
}

export interface EventRoutesOptions extends Pick<IntakeDeps, "access" | "eventSource"> {
  readonly buses: Buses;
  readonly first: RouteConfig;
  /** Sends the call of a rule to the queue of intake. */
  readonly send: (call: unknown) => Promise<void>;
}

type ForwardHandler = (awsAccount: string, event: BusEvent) => Promise<void>;

/** Routes of events between AWS accounts, as rules and policies define them in the cloud. */
export interface EventRoutes {
  /** Starts to route events. Call it once, after the subscribers that print events. */
  connect(): void;
  /**
   * Puts an event on Skyhook's bus, or on the default bus of Skyhook's AWS account.
   * @throws PutRefused when the policy of the bus denies it to that AWS account
   */
  put(event: PutEvent, onDefaultBus?: boolean): Promise<BusEvent>;
  /**
   * Reports the outcome of each reaction for an event on that bus, and of the event itself if it is a
   * request. Checks that need the ledger, such as a reused id, are not included.
   */
  outcomesOf(event: BusEvent, onDefaultBus?: boolean): readonly RuleOutcome[];
  /** Subscribes to the events that the rule of that AWS account sends to its bus. */
  subscribeAs(awsAccount: string, handler: BusHandler): void;
  /** As `subscribeAs`, for all AWS accounts, also those of a later config. */
  subscribeToForwarded(handler: ForwardHandler): void;
  /** Replaces the rules and policies for the next event. */
  replace(config: RouteConfig): void;
}

/** The policy of a bus refuses an event of this AWS account. */
export class PutRefused extends Error {
  override readonly name = "PutRefused";
}

const unfitOf = (rule: IntakeRule, event: BusEvent, onDefaultBus: boolean): readonly string[] => [
  ...(rule.onDefaultBus === onDefaultBus ? [] : ["bus"]),
  ...(matchesPattern(rule.pattern, { ...event })
    ? []
    : mismatchedFields(rule.pattern, { ...event })),
];

const outcomeOf = (
  intake: Pick<IntakeDeps, "access" | "reactions">,
  rule: IntakeRule,
  event: BusEvent,
  onDefaultBus: boolean,
): RuleOutcome | undefined => {
  const unfit = unfitOf(rule, event, onDefaultBus);
  const name = rule.reaction ?? event["detail-type"];
  if (unfit.length > 0) {
    return rule.reaction === undefined
      ? undefined
      : { kind: "no-match", rule: name, unfit: [...unfit] };
  }
  const call = readCall(intakeCall(rule, event));
  const read = call && readEventRequest(intake, call)?.read;
  if (!read) return undefined;
  if (read.kind === "valid") {
    return { kind: "command", rule: name, commandId: read.request.commandId };
  }
  const { commandId, reason, problems } = read.rejection;
  return { kind: "rejected", rule: name, commandId, reason, problems: [...problems] };
};

/** Call `connect` before the buses start, so that no stored event is missed. */
export const createEventRoutes = (options: EventRoutesOptions): EventRoutes => {
  const { buses, access, eventSource, send } = options;
  const withRules = (config: RouteConfig) => ({
    ...config,
    rules: intakeRules({ reactions: config.reactions, eventSource }),
  });
  let current = withRules(options.first);
  const handlers: ForwardHandler[] = [];

  /** Sends an event to the queue of intake once for each rule that it matches, as EventBridge does. */
  const sendToIntake = async (event: BusEvent, onDefaultBus: boolean): Promise<void> => {
    for (const rule of current.rules) {
      if (unfitOf(rule, event, onDefaultBus).length === 0) await send(intakeCall(rule, event));
    }
  };
  const forward = async (event: BusEvent): Promise<void> => {
    const { awsAccounts } = current.accounts;
    for (const awsAccount of forwardedTo(event, { awsAccounts, eventSource })) {
      for (const handle of handlers) await handle(awsAccount, event);
    }
  };

  /** Reason why the policy of infra/event-bus.cjs refuses the event; undefined if it accepts it. */
  const refusalOf = ({ account = LOCAL_SENDER, source }: PutEvent, onDefaultBus: boolean) => {
    if (source === eventSource) {
      return `source ${eventSource} is reserved for Skyhook's own events; use another source, or try the event with: skyhook reactions test`;
    }
    if (source.startsWith("aws.") && !onDefaultBus && account === LOCAL_SENDER) {
      return "events of AWS services arrive on the default bus; add --bus default";
    }
    if (account === LOCAL_SENDER) return undefined;
    if (onDefaultBus)
      return "the default bus accepts only events of Skyhook's own AWS account; leave out --bus default";
    const { awsAccounts, organization } = current.accounts;
    const isKnown = organization !== undefined || awsAccounts.some(({ id }) => id === account);
    return isKnown
      ? undefined
      : `AWS account ${account} may not put events; add it to aws_accounts in the accounts file`;
  };

  return {
    connect() {
      buses.bus.subscribe((event) => sendToIntake(event, false));
      buses.defaultBus.subscribe((event) => sendToIntake(event, true));
      buses.bus.subscribe(forward);
    },
    async put(event, onDefaultBus = false) {
      const refusal = refusalOf(event, onDefaultBus);
      if (refusal !== undefined) throw new PutRefused(refusal);
      return (onDefaultBus ? buses.defaultBus : buses.bus).put(event);
    },
    outcomesOf(event, onDefaultBus = false) {
      const { rules, reactions } = current;
      return rules.flatMap(
        (rule) => outcomeOf({ access, reactions }, rule, event, onDefaultBus) ?? [],
      );
    },
    subscribeAs(awsAccount, handle) {
      handlers.push(async (to, event) => (to === awsAccount ? handle(event) : undefined));
    },
    subscribeToForwarded(handle) {
      handlers.push(handle);
    },
    replace(config) {
      current = withRules(config);
    },
  };
};
