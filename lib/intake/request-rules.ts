import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { type PlacedProblem, placedProblemsOf } from "../contract/problem.ts";
import { requestSchema } from "../engine/command.ts";
import { nameProblems } from "../engine/request-limits.ts";
import { fillTemplate, leavesOf, type Template } from "./mapping.ts";
import { PLACES } from "./reaction.ts";

type Place = readonly PropertyKey[];

/** What a rule says of the request, as far as it could be read. */
export interface RequestTemplates {
  readonly params?: Template | undefined;
  readonly query?: Template | undefined;
  readonly body?: Template | undefined;
}

const startsWith = (place: Place, start: Place): boolean =>
  start.every((step, index) => step === place[index]);

/** Where a template has no constant, so that nothing is known of the value. */
const openPlaces = (template: Template, place: Place): readonly Place[] =>
  leavesOf(template, place).flatMap(({ leaf, place: leafPlace }) =>
    leaf.kind === "constant" ? [] : [leafPlace],
  );

/** A field that nobody knows is wrong whatever its value will be. */
const isKnownNow = ({ path, rule }: PlacedProblem, open: readonly Place[]): boolean =>
  rule === "unknown field" ||
  !open.some((place) => startsWith(path, place) || startsWith(place, path));

const placeProblems = (
  operation: Mutation,
  place: (typeof PLACES)[number],
  template: Template | undefined,
): readonly PlacedProblem[] => {
  const empty = place === "body" ? undefined : {};
  const value = template && fillTemplate(template, () => undefined);
  if (operation[place] instanceof z.ZodUndefined && template) {
    return [{ path: [place], rule: "this operation takes no body" }];
  }
  // As for a request: encoding checks the form that senders write.
  const checked = z.safeEncode<z.ZodType>(operation[place], value ?? empty);
  const open = template ? openPlaces(template, [place]) : [];
  return checked.success
    ? []
    : placedProblemsOf(checked.error.issues, [place]).filter((each) => isKnownNow(each, open));
};

/** Looked at when the rest is right, because only then the names are known to be texts. */
const namesTooLong = (
  operation: Mutation,
  { params, query, body }: RequestTemplates,
): readonly PlacedProblem[] => {
  const filled = (template: Template | undefined) =>
    template && fillTemplate(template, (): null => null);
  const request = requestSchema.safeParse({
    params: filled(params) ?? {},
    query: filled(query) ?? {},
    body: filled(body) ?? undefined,
  });
  const problems = request.success ? nameProblems(operation, request.data) : [];
  return problems.map(({ path, rule }) => ({ path: path.split("."), rule }));
};

/** The file is packaged and read by many; only an event may carry what must not be seen. */
const secretsIn = (operation: Mutation, templates: RequestTemplates): readonly PlacedProblem[] => {
  const secret = new Set<string>(operation.secrets ?? []);
  return PLACES.flatMap((place) => {
    const template = templates[place];
    return (template ? leavesOf(template, [place]) : [])
      .filter(({ leaf }) => leaf.kind === "constant" && leaf.value !== null)
      .filter(({ place: path }) => secret.has(path.slice(0, 2).join(".")))
      .map(({ place: path }) => ({ path, rule: "a secret: map it from the event" }));
  });
};

/** What the contract has against a request, whatever an event will put into its mapped parts. */
export const requestProblems = (
  operation: Mutation,
  templates: RequestTemplates,
): readonly PlacedProblem[] => {
  const problems = [
    ...PLACES.flatMap((place) => placeProblems(operation, place, templates[place])),
    ...secretsIn(operation, templates),
  ];
  return problems.length > 0 ? problems : namesTooLong(operation, templates);
};
