import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { type PlacedProblem, placedProblemsOf } from "../contract/problem.ts";
import { requestSchema } from "../engine/command.ts";
import { guardSchema, nameProblems } from "../engine/request.ts";
import { covers } from "../provider/access.ts";
import type { AccountSettings } from "../provider/accounts-config.ts";
import { PLACES } from "./reaction.ts";
import { fillTemplate, leavesOf, type Template } from "./template.ts";

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

const NO_PROJECT =
  "the account allows only some projects, and this reaches beyond them: it has to be listed among the account's operations";

const OTHER_PROJECT = "the account does not allow this project";

const fieldAt = (template: Template | undefined, name: string): Template | undefined =>
  template?.kind === "object" ? template.fields.find(([field]) => field === name)?.[1] : undefined;

/** Projects that a rule names itself, whatever the event. */
const constantProjects = (
  template: Template | undefined,
  path: readonly PropertyKey[],
): readonly { readonly project: number; readonly path: readonly PropertyKey[] }[] => {
  const field = fieldAt(template, "project_id");
  return field?.kind === "constant" && typeof field.value === "number"
    ? [{ project: field.value, path: [...path, "project_id"] }]
    : [];
};

const operationProblems = (
  account: AccountSettings,
  operation: Mutation,
): readonly PlacedProblem[] => {
  const path = ["then", "operation"];
  if (account.operations !== "all" && !account.operations.includes(operation.id)) {
    return [{ path, rule: "the account does not allow it" }];
  }
  const hasProject = "project_id" in operation.params.shape;
  return hasProject || covers(account, { operation: operation.id, project: undefined })
    ? []
    : [{ path, rule: NO_PROJECT }];
};

/** What the account allows to nobody: the operation, or a project of the request or of a guard. */
export const ceilingProblems = (
  account: AccountSettings,
  operation: Mutation,
  params: Template | undefined,
  guards: readonly Template[],
): readonly PlacedProblem[] => {
  const { projects } = account;
  const named = [
    ...constantProjects(params, ["then", "params"]),
    ...guards.flatMap((guard, index) =>
      ["floating_ip", "network"].flatMap((resource) =>
        constantProjects(fieldAt(guard, resource), ["guards", index, resource]),
      ),
    ),
  ];
  const others = named.filter(({ project }) => projects !== "all" && !projects.includes(project));
  return [
    ...operationProblems(account, operation),
    ...others.map(({ path }) => ({ path, rule: OTHER_PROJECT })),
  ];
};

const PLACE = { project_id: 1, region_id: 1 };
const ID = "00000000-0000-4000-8000-000000000000";

/** A right value of each field, so that a mapped one hides nothing of those beside it. */
const SAMPLES = new Map<PropertyKey | undefined, unknown>([
  ["floating_ip", { ...PLACE, floating_ip_id: ID }],
  ["network", { ...PLACE, network_id: ID }],
  ["project_id", PLACE.project_id],
  ["region_id", PLACE.region_id],
  ["floating_ip_id", ID],
  ["network_id", ID],
  ["key", "key"],
  ["equals", "value"],
  ["not", "value"],
  ["exists", true],
  ["absent", true],
]);

/** What is wrong with a guard, whatever an event will put into its mapped parts. */
export const guardProblems = (guard: Template): readonly PlacedProblem[] => {
  // What is no object is for the schema to tell of.
  if (guard.kind !== "object") return [];
  const open = new Set(
    leavesOf(guard).flatMap(({ leaf, place }) =>
      leaf.kind === "constant" ? [] : [JSON.stringify(place)],
    ),
  );
  const sample = fillTemplate(guard, (_path, place: Place) => SAMPLES.get(place.at(-1)));
  const read = guardSchema.safeParse(sample);
  return placedProblemsOf(read.error?.issues ?? []).filter(
    ({ path, rule }) => rule === "unknown field" || !open.has(JSON.stringify(path)),
  );
};
