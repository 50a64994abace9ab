import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { COMMANDED } from "../contract/operations.ts";
import type { PlacedProblem } from "../contract/problem.ts";
import { sizeProblems } from "../engine/request.ts";
import type { AccountSettings, AccountsConfig } from "../provider/accounts-config.ts";
import { couldMatchField, readPattern } from "./event-patterns/pattern.ts";
import { PLACES } from "./reaction.ts";
import {
  ceilingProblems,
  guardProblems,
  type RequestTemplates,
  requestProblems,
} from "./request-rules.ts";
import { fillTemplate, readTemplate, type Template, templateProblems } from "./template.ts";

/** Events of ours that follow from commands: a command made by one would make the next, for ever. */
const OF_COMMANDS = ["Command", "Task", "AccountKey"];

/** Fields around the detail that EventBridge fills with text. */
const TEXT_FIELDS = ["account", "detail-type", "id", "region", "source", "time", "version"];

const listSchema = z.array(z.unknown());
const patternSchema = z.looseObject({});
type Pattern = z.output<typeof patternSchema>;

/** A number where EventBridge has text never matches; mostly it is an id whose quotes are missing. */
const neverText = (pattern: Pattern): readonly PlacedProblem[] =>
  TEXT_FIELDS.flatMap((field) =>
    (listSchema.safeParse(pattern[field]).data ?? []).flatMap((value, index) =>
      typeof value === "string" || typeof value === "object"
        ? []
        : [{ path: [field, index], rule: "a text in quotes: there EventBridge has text only" }],
    ),
  );

const detailTypeProblems = (detailTypes: unknown): readonly PlacedProblem[] => {
  const path = ["detail-type"];
  const list = listSchema.safeParse(detailTypes).data;
  if (!list) return [{ path, rule: "required: of Skyhook's own events, each is listed by name" }];
  return list.flatMap((detailType, index): readonly PlacedProblem[] => {
    if (typeof detailType !== "string") {
      return [{ path: [...path, index], rule: "of Skyhook's own events, the exact name" }];
    }
    return OF_COMMANDS.some((begin) => detailType.startsWith(begin))
      ? [
          {
            path: [...path, index],
            rule: "follows from commands, so the command would call itself again for ever; to run one after another, commands have `after`",
          },
        ]
      : [];
  });
};

/** Of our own events, only those that no command makes, named one by one. */
const ownEventProblems = (pattern: Pattern, eventSource: string): readonly PlacedProblem[] => {
  const sources = listSchema.safeParse(pattern.source).data ?? [];
  if (sources.length > 1 || sources[0] !== eventSource) {
    const rule = `could match Skyhook's own events; those only as source: [${eventSource}], with a list of detail-types`;
    return [{ path: ["source"], rule }];
  }
  const notAllowed = ["account", "$or"].filter((field) => Object.hasOwn(pattern, field));
  return [
    ...detailTypeProblems(pattern["detail-type"]),
    ...notAllowed.map((field) => ({
      path: [field],
      rule: "not with Skyhook's own events: they are taken from its own AWS account only",
    })),
  ];
};

/** What AWS services tell is on the default bus, and what Skyhook tells on its own. */
const busProblems = (
  pattern: Pattern,
  bus: unknown,
  eventSource: string,
): readonly PlacedProblem[] => {
  const sources = listSchema.safeParse(pattern.source).data ?? [];
  const isOfAws = sources.some((source) => typeof source === "string" && source.startsWith("aws."));
  if (isOfAws && bus !== "default" && !Object.hasOwn(pattern, "account")) {
    const rule =
      "AWS services put their events on the default bus: say `bus: default`, or name in `account` the AWS accounts that send theirs on";
    return [{ path: ["source"], rule }];
  }
  return bus === "default" && sources.includes(eventSource)
    ? [
        {
          path: ["source"],
          rule: "Skyhook's own events are on its own bus, not on the default one",
        },
      ]
    : [];
};

/**
 * What is wrong with a rule's pattern: what EventBridge would refuse, what could never match, and what
 * would let a command call itself.
 * @param bus as the rule says it
 * @param eventSource `source` of Skyhook's own events
 */
const patternProblems = (
  raw: unknown,
  bus: unknown,
  eventSource: string,
): readonly PlacedProblem[] => {
  const pattern = patternSchema.safeParse(raw).data;
  // What is no object is for the schema to tell of.
  if (!pattern) return [];
  const read = readPattern(raw);
  const problems = [
    ...(read.kind === "invalid" ? read.problems : []),
    ...neverText(pattern),
    ...busProblems(pattern, bus, eventSource),
  ];
  if (!Object.hasOwn(pattern, "source")) {
    const rule = "required, or the rule would match Skyhook's own events too";
    return [...problems, { path: ["source"], rule }];
  }
  return read.kind === "valid" && couldMatchField(read.pattern, "source", eventSource)
    ? [...problems, ...ownEventProblems(pattern, eventSource)]
    : problems;
};

/** What a reactions file is read against. */
export interface ReactionContext {
  /** Absent where accounts are not known; then nothing is said of them. */
  readonly accounts: AccountsConfig | undefined;
  /** `source` of Skyhook's own events. */
  readonly eventSource: string;
}

type Path = readonly PropertyKey[];

/** As much of a file as the rules between its fields look at. */
const looseSchema = z.looseObject({ reactions: z.array(z.unknown()) });
const looseReaction = z.looseObject({
  name: z.unknown().optional(),
  when: z.unknown().optional(),
  account: z.unknown().optional(),
  key: z.unknown().optional(),
  // biome-ignore lint/suspicious/noThenProperty: the name of the field in the file
  then: z.looseObject({ operation: z.unknown().optional() }).catch({}),
  guards: z.array(z.unknown()).catch([]),
});
type LooseReaction = z.output<typeof looseReaction>;

/** As long as everything that a command says of its event can be in JSON. */
const LONGEST_METADATA = "-".repeat(4_000);

/** As if it came from the event: a part of the wrong type is for the schema to tell of. */
const UNKNOWN = readTemplate("$.detail");

const within = (path: Path, problems: readonly PlacedProblem[]): readonly PlacedProblem[] =>
  problems.map((each) => ({ path: [...path, ...each.path], rule: each.rule }));

const readPart = (part: unknown): Template | undefined => {
  if (part === undefined) return undefined;
  const isObject = typeof part === "object" && part !== null && !Array.isArray(part);
  const isPath = typeof part === "string" && part.startsWith("$.");
  return isObject || isPath ? readTemplate(part) : UNKNOWN;
};

const tooLarge = (templates: readonly (Template | undefined)[]): readonly PlacedProblem[] =>
  sizeProblems([
    LONGEST_METADATA,
    ...templates.map((template) => template && fillTemplate(template, (): null => null)),
  ]).map(({ rule }) => ({ path: ["then"], rule }));

/** The account that a reaction may leave out: the only one. */
export const onlyAccount = (accounts: AccountsConfig | undefined): AccountSettings | undefined =>
  accounts?.accounts.length === 1 ? accounts.accounts[0] : undefined;

const accountProblems = (
  { account: name, guards }: LooseReaction,
  operation: Mutation | undefined,
  templates: RequestTemplates,
  accounts: AccountsConfig | undefined,
): readonly PlacedProblem[] => {
  if (!accounts || (name !== undefined && typeof name !== "string")) return [];
  const account =
    name === undefined
      ? onlyAccount(accounts)
      : accounts.accounts.find((each) => each.name === name);
  if (!account) {
    const names = accounts.accounts.map((each) => each.name).join(", ");
    const rule =
      name === undefined ? "required, because there are several" : "no such account; there are";
    return [{ path: ["account"], rule: `${rule}: ${names}` }];
  }
  if (!operation) return [];
  return ceilingProblems(
    account,
    operation,
    templates.params,
    guards.map((each) => readTemplate(each)),
  );
};

/** Reports a path that cannot be read; the schema reports what is no path at all. */
const keyProblems = (key: unknown): readonly PlacedProblem[] =>
  typeof key === "string" && key.startsWith("$.")
    ? templateProblems(readTemplate(key), ["key"])
    : [];

const reactionProblems = (
  reaction: LooseReaction,
  { accounts, eventSource }: ReactionContext,
): readonly PlacedProblem[] => {
  const operation = COMMANDED.find(({ id }) => id === reaction.then.operation);
  const templates = {
    params: readPart(reaction.then.params),
    query: readPart(reaction.then.query),
    body: readPart(reaction.then.body),
  };
  const guards = reaction.guards.map((guard) => readTemplate(guard));
  const problems = [
    ...within(["when"], patternProblems(reaction.when, reaction.bus, eventSource)),
    ...accountProblems(reaction, operation, templates, accounts),
    ...keyProblems(reaction.key),
    ...PLACES.flatMap((place) => templateProblems(templates[place], ["then", place])),
    ...(operation ? within(["then"], requestProblems(operation, templates)) : []),
    ...guards.flatMap((guard, index) => [
      ...templateProblems(guard, ["guards", index]),
      ...within(["guards", index], guardProblems(guard)),
    ]),
  ];
  return problems.length > 0 ? problems : tooLarge([...Object.values(templates), ...guards]);
};

/** Names once each, and nothing in a rule that no event could make right. */
export const rulesBetween = (
  content: unknown,
  context: ReactionContext,
): readonly PlacedProblem[] => {
  const entries = looseSchema.safeParse(content).data?.reactions ?? [];
  const firstOf = new Map<unknown, number>();
  return entries.flatMap((entry, index) => {
    const reaction = looseReaction.safeParse(entry).data;
    if (!reaction) return [];
    const { name } = reaction;
    const first = firstOf.get(name);
    if (name !== undefined && first === undefined) firstOf.set(name, index);
    const problems = within(["reactions", index], reactionProblems(reaction, context));
    return first === undefined
      ? problems
      : [
          { path: ["reactions", index, "name"], rule: `the same as reactions.${first}` },
          ...problems,
        ];
  });
};
