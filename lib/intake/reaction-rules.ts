import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { COMMANDED } from "../contract/operations.ts";
import type { PlacedProblem } from "../contract/problem.ts";
import { sizeProblems } from "../engine/request.ts";
import type { AccountSettings, AccountsConfig } from "../provider/accounts-config.ts";
import { couldMatchField, readPattern } from "./event-patterns/pattern.ts";
import { REQUEST_PARTS } from "./reaction.ts";
import {
  accountLimitProblems,
  guardProblems,
  type RequestTemplates,
  requestProblems,
} from "./request-rules.ts";
import { fillTemplate, readTemplate, type Template, templateProblems } from "./template.ts";

/** Prefixes of our events that follow from commands. A reaction to one would repeat its command endlessly. */
const OF_COMMANDS = ["Command", "Task", "AccountKey"];

/** Fields of the envelope that are always strings. */
const TEXT_FIELDS = ["account", "detail-type", "id", "region", "source", "time", "version"];

const listSchema = z.array(z.unknown());
const patternSchema = z.looseObject({});
type Pattern = z.output<typeof patternSchema>;

/** Reports numbers for string fields, which never match; usually an id without quotes. */
const textProblems = (pattern: Pattern): readonly PlacedProblem[] =>
  TEXT_FIELDS.flatMap((field) =>
    (listSchema.safeParse(pattern[field]).data ?? []).flatMap((value, index) =>
      typeof value === "string" || typeof value === "object"
        ? []
        : [
            {
              path: [field, index],
              rule: "must be a string in quotes: in events this field is always a string",
            },
          ],
    ),
  );

const detailTypeProblems = (detailTypes: unknown): readonly PlacedProblem[] => {
  const list = listSchema.safeParse(detailTypes).data;
  if (!list) {
    const rule = "required for Skyhook's own events: list each detail-type by name";
    return [{ path: ["detail-type"], rule }];
  }
  return list.flatMap((detailType, index): readonly PlacedProblem[] => {
    const path = ["detail-type", index];
    if (typeof detailType !== "string") {
      return [{ path, rule: "must be the exact name of one of Skyhook's own events" }];
    }
    const rule =
      "not allowed: this event follows from commands, so the reaction would run endlessly; use `after` to run commands one after another";
    return OF_COMMANDS.some((begin) => detailType.startsWith(begin)) ? [{ path, rule }] : [];
  });
};

/** Allows those of our own events that follow from no command, each listed by name. */
const ownEventProblems = (pattern: Pattern, eventSource: string): readonly PlacedProblem[] => {
  const sources = listSchema.safeParse(pattern.source).data ?? [];
  if (sources.length > 1 || sources[0] !== eventSource) {
    const rule = `could match Skyhook's own events; list other sources by name, or use source: [${eventSource}] alone with a list of detail-types`;
    return [{ path: ["source"], rule }];
  }
  const notAllowed = ["account", "$or"].filter((field) => Object.hasOwn(pattern, field));
  return [
    ...detailTypeProblems(pattern["detail-type"]),
    ...notAllowed.map((field) => ({
      path: [field],
      rule: "not allowed with Skyhook's own events, which come from its own AWS account only",
    })),
  ];
};

/** Reports a wrong bus: events of AWS services are on the default bus, Skyhook's own on Skyhook's bus. */
const busProblems = (
  pattern: Pattern,
  bus: unknown,
  eventSource: string,
): readonly PlacedProblem[] => {
  const path = ["source"];
  const sources = listSchema.safeParse(pattern.source).data ?? [];
  const isOfAws = sources.some((source) => typeof source === "string" && source.startsWith("aws."));
  if (isOfAws && bus !== "default" && !Object.hasOwn(pattern, "account")) {
    const rule =
      "AWS services put their events on the default bus: add `bus: default`, or list in `account` the AWS accounts that forward theirs";
    return [{ path, rule }];
  }
  const rule = "Skyhook's own events are not on the default bus: remove `bus`";
  return bus === "default" && sources.includes(eventSource) ? [{ path, rule }] : [];
};

/**
 * Reports patterns that EventBridge would refuse, that can never match, or with which a command could
 * trigger itself.
 * @param bus the rule's `bus`
 */
const patternProblems = (
  raw: unknown,
  bus: unknown,
  eventSource: string,
): readonly PlacedProblem[] => {
  const pattern = patternSchema.safeParse(raw).data;
  // The schema reports a pattern that is not an object.
  if (!pattern) return [];
  const read = readPattern(raw);
  const problems = [
    ...(read.kind === "invalid" ? read.problems : []),
    ...textProblems(pattern),
    ...busProblems(pattern, bus, eventSource),
  ];
  if (!Object.hasOwn(pattern, "source")) {
    const rule = "required: without it the rule would match Skyhook's own events too";
    return [...problems, { path: ["source"], rule }];
  }
  return read.kind === "valid" && couldMatchField(read.pattern, "source", eventSource)
    ? [...problems, ...ownEventProblems(pattern, eventSource)]
    : problems;
};

export interface ReactionContext {
  /** Undefined without an accounts file; then accounts are not checked. */
  readonly accounts: AccountsConfig | undefined;
  /** `source` of Skyhook's own events. */
  readonly eventSource: string;
}

type Path = readonly PropertyKey[];

/** The parts of a file that the cross-field rules read. */
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

/** Stands for the longest possible JSON of a command's metadata. */
const LONGEST_METADATA = "-".repeat(4_000);

/** Stands for a part of a wrong type, which the schema reports. */
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

/** The only account of an accounts file, which a reaction may leave out. */
export const onlyAccount = (accounts: AccountsConfig | undefined): AccountSettings | undefined =>
  accounts?.accounts.length === 1 ? accounts.accounts[0] : undefined;

const accountProblems = (
  accounts: AccountsConfig | undefined,
  name: unknown,
  operation: Mutation | undefined,
  templates: RequestTemplates,
): readonly PlacedProblem[] => {
  if (!accounts || (name !== undefined && typeof name !== "string")) return [];
  const account =
    name === undefined
      ? onlyAccount(accounts)
      : accounts.accounts.find((each) => each.name === name);
  if (!account) {
    const names = accounts.accounts.map((each) => each.name).join(", ");
    const rule = name === undefined ? "required, one of" : "unknown account, must be one of";
    return [{ path: ["account"], rule: `${rule}: ${names}` }];
  }
  return operation ? accountLimitProblems(account, operation, templates) : [];
};

/** Reports an invalid path. The schema reports any other value. */
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
    guards: reaction.guards.map((guard) => readTemplate(guard)),
  };
  const problems = [
    ...within(["when"], patternProblems(reaction.when, reaction.bus, eventSource)),
    ...accountProblems(accounts, reaction.account, operation, templates),
    ...keyProblems(reaction.key),
    ...REQUEST_PARTS.flatMap((part) => templateProblems(templates[part], ["then", part])),
    ...(operation ? within(["then"], requestProblems(operation, templates)) : []),
    ...templates.guards.flatMap((guard, index) => [
      ...templateProblems(guard, ["guards", index]),
      ...within(["guards", index], guardProblems(guard)),
    ]),
  ];
  return problems.length > 0 ? problems : tooLarge(Object.values(templates).flat());
};

/** Reports duplicate names, and everything in a rule that no event can make valid. */
export const crossFieldProblems = (
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
          { path: ["reactions", index, "name"], rule: `duplicate of reactions.${first}.name` },
          ...problems,
        ];
  });
};
