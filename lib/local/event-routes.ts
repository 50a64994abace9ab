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
import { LOCAL_SENDER } from "./aws-events.ts";
import type { BusEvent, BusHandler, LocalBus, PutEvent } from "./local-bus.ts";
import type { RuleOutcome } from "./put-request.ts";

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
interface IntakeRule {
  /** The name of the reaction; absent for the rule of events that ask for a command themselves. */
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

/** What a rule sends to intake. */
const intakeCall = ({ reaction }: IntakeRule, event: BusEvent): unknown =>
  reaction === undefined ? event : { reaction, event };

const subscriberPattern = (awsAccount: string, eventSource: string): EventPattern =>
  patternOf({
    source: [eventSource],
    account: [LOCAL_SENDER],
    "detail-type": [{ prefix: "Command" }, { prefix: "Task" }],
    detail: { metadata: { sender: [awsAccount] } },
  });

/** As infra/event-rules.cjs: the events of each other AWS account's commands go to its bus. */
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

/** What the ways of events are made of. It is asked for each event, so that another one takes effect. */
interface RouteConfig {
  readonly accounts: AccountsConfig;
  readonly reactions: readonly Reaction[];
}

export interface EventRoutesOptions extends Pick<IntakeDeps, "access" | "eventSource"> {
  readonly buses: Buses;
  readonly first: RouteConfig;
  /** Puts what a rule sends into the queue of intake. */
  readonly send: (call: unknown) => Promise<void>;
}

type ForwardHandler = (awsAccount: string, event: BusEvent) => Promise<void>;

/** The ways of events between AWS accounts, as rules and policies make them in the cloud. */
export interface EventRoutes {
  /** Begins to route events. To be called once, after the subscribers that print events. */
  connect(): void;
  /**
   * Puts an event on Skyhook's bus, or on the default one of our own AWS account.
   * @throws PutRefused when the bus's policy does not let that AWS account do so
   */
  put(event: PutEvent, onDefaultBus?: boolean): Promise<BusEvent>;
  /**
   * Says what each reaction makes of an event on that bus, and the event itself if it asks for a command.
   * What only the ledger knows, such as an id that is in use, is not in it.
   */
  outcomesOf(event: BusEvent, onDefaultBus?: boolean): readonly RuleOutcome[];
  /** The handler gets what the rule for that AWS account sends to its bus. */
  subscribeAs(awsAccount: string, handler: BusHandler): void;
  /** As `subscribeAs`, for all AWS accounts, also those that a later config names. */
  subscribeToForwarded(handler: ForwardHandler): void;
  /** Takes the rules and policies of another config, for the next event. */
  replace(config: RouteConfig): void;
}

/** The bus does not take an event of this AWS account. */
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

/** To be connected before the buses start, so that no stored event is missed. */
export const createEventRoutes = (options: EventRoutesOptions): EventRoutes => {
  const { buses, access, eventSource, send } = options;
  const withRules = (config: RouteConfig) => ({
    ...config,
    rules: intakeRules({ reactions: config.reactions, eventSource }),
  });
  let current = withRules(options.first);
  const handlers: ForwardHandler[] = [];

  /** Sends an event to the queue of intake once for each rule that it matches, as EventBridge does. */
  const leadToIntake = async (event: BusEvent, onDefaultBus: boolean): Promise<void> => {
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

  /** As infra/event-bus.cjs has it. */
  const refusalOf = ({ account = LOCAL_SENDER, source }: PutEvent, onDefaultBus: boolean) => {
    if (source === eventSource) {
      return `source ${eventSource} is Skyhook's own; put the event under another source, or see what a reaction makes of it: skyhook reactions test`;
    }
    if (source.startsWith("aws.") && !onDefaultBus && account === LOCAL_SENDER) {
      return "AWS services put their events on the default bus (--bus default)";
    }
    if (account === LOCAL_SENDER) return undefined;
    if (onDefaultBus) return "the default bus takes events of our own AWS account only";
    const { awsAccounts, organization } = current.accounts;
    const isKnown = organization !== undefined || awsAccounts.some(({ id }) => id === account);
    return isKnown ? undefined : `AWS account ${account} may put no events: see aws_accounts`;
  };

  return {
    connect() {
      buses.bus.subscribe((event) => leadToIntake(event, false));
      buses.defaultBus.subscribe((event) => leadToIntake(event, true));
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
