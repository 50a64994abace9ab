import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { COMMANDED } from "../contract/operations.ts";
import type { PlacedProblem } from "../contract/problem.ts";
import { sizeProblems } from "../engine/request-limits.ts";
import type { AccountSettings, AccountsConfig } from "../provider/accounts-config.ts";
import { ceilingProblems } from "./account-rules.ts";
import { guardProblems } from "./guard-rules.ts";
import { fillTemplate, readTemplate, type Template, templateProblems } from "./mapping.ts";
import { patternProblems } from "./pattern-rules.ts";
import { PLACES } from "./reaction.ts";
import { type RequestTemplates, requestProblems } from "./request-rules.ts";

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
