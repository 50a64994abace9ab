import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { type PlacedProblem, placedProblemsOf } from "../contract/problem.ts";
import { nameProblems } from "../engine/request.ts";
import { requestSchema } from "../engine/request-body.ts";
import { guardSchema } from "../events/requests.ts";
import { covers } from "../provider/access.ts";
import type { AccountSettings } from "../provider/accounts-config.ts";
import { REQUEST_PARTS } from "./reaction.ts";
import { fillTemplate, leavesOf, type Template } from "./template.ts";

type Path = readonly PropertyKey[];

/** Templates of a rule's request; undefined for absent parts. */
export interface RequestTemplates
  extends Readonly<Record<(typeof REQUEST_PARTS)[number], Template | undefined>> {
  readonly guards: readonly Template[];
}

const startsWith = (path: Path, start: Path): boolean =>
  start.every((step, index) => step === path[index]);

/** Paths of the values that come from the event. */
const openPaths = (template: Template, start: Path): readonly Path[] =>
  leavesOf(template, start).flatMap(({ leaf, path }) => (leaf.kind === "constant" ? [] : [path]));

const partProblems = (
  operation: Mutation,
  part: (typeof REQUEST_PARTS)[number],
  template: Template | undefined,
): readonly PlacedProblem[] => {
  const empty = part === "body" ? undefined : {};
  const value = template && fillTemplate(template, () => undefined);
  if (operation[part] instanceof z.ZodUndefined && template) {
    return [{ path: [part], rule: "this operation takes no body" }];
  }
  // Encoding checks the form that senders write, as for a request.
  const checked = z.safeEncode<z.ZodType>(operation[part], value ?? empty);
  const open = template ? openPaths(template, [part]) : [];
  // An unknown field is a problem with any value.
  return placedProblemsOf(checked.error?.issues ?? [], [part]).filter(
    ({ path, rule }) =>
      rule === "unknown field" ||
      !open.some((each) => startsWith(path, each) || startsWith(each, path)),
  );
};

/** Reports resource names that are too long. Needs valid templates, in which names are strings. */
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

/** Reports literal secrets: only an event may carry one, because the file is packaged and widely readable. */
const secretsIn = (operation: Mutation, templates: RequestTemplates): readonly PlacedProblem[] => {
  const secret = new Set<string>(operation.secrets ?? []);
  return REQUEST_PARTS.flatMap((part) => {
    const template = templates[part];
    return (template ? leavesOf(template, [part]) : [])
      .filter(({ leaf }) => leaf.kind === "constant" && leaf.value !== null)
      .filter(({ path }) => secret.has(path.slice(0, 2).join(".")))
      .map(({ path }) => ({ path, rule: "must not contain a secret: use a path into the event" }));
  });
};

/** Reports violations of the contract that no event can repair. */
export const requestProblems = (
  operation: Mutation,
  templates: RequestTemplates,
): readonly PlacedProblem[] => {
  const problems = [
    ...REQUEST_PARTS.flatMap((part) => partProblems(operation, part, templates[part])),
    ...secretsIn(operation, templates),
  ];
  return problems.length > 0 ? problems : namesTooLong(operation, templates);
};

const NO_PROJECT =
  "this operation has no project, but the account limits projects: list the operation in the account's `operations`";

const fieldAt = (template: Template | undefined, name: string): Template | undefined =>
  template?.kind === "object" ? template.fields.find(([field]) => field === name)?.[1] : undefined;

/** Literal project ids of a rule. */
const constantProjects = (
  template: Template | undefined,
  path: Path,
): readonly { readonly project: number; readonly path: Path }[] => {
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
    return [{ path, rule: "not in the account's `operations`" }];
  }
  const hasProject = "project_id" in operation.params.shape;
  return hasProject || covers(account, { operation: operation.id, project: undefined })
    ? []
    : [{ path, rule: NO_PROJECT }];
};

/** Reports an operation or a project of the request or of a guard that the account does not allow. */
export const accountLimitProblems = (
  account: AccountSettings,
  operation: Mutation,
  { params, guards }: RequestTemplates,
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
    ...others.map(({ path }) => ({ path, rule: "not in the account's `projects`" })),
  ];
};

const LOCATION = { project_id: 1, region_id: 1 };
const ID = "00000000-0000-4000-8000-000000000000";

/** Valid values of all fields; they replace mapped values, so that the other fields can be checked. */
const SAMPLES = new Map<PropertyKey | undefined, unknown>([
  ["floating_ip", { ...LOCATION, floating_ip_id: ID }],
  ["network", { ...LOCATION, network_id: ID }],
  ["project_id", LOCATION.project_id],
  ["region_id", LOCATION.region_id],
  ["floating_ip_id", ID],
  ["network_id", ID],
  ["key", "key"],
  ["equals", "value"],
  ["not", "value"],
  ["exists", true],
  ["absent", true],
]);

/** Reports problems of a guard that no event can repair. */
export const guardProblems = (guard: Template): readonly PlacedProblem[] => {
  // The schema reports a guard that is not an object.
  if (guard.kind !== "object") return [];
  const open = new Set(openPaths(guard, []).map((path) => JSON.stringify(path)));
  const sample = fillTemplate(guard, (_source, path: Path) => SAMPLES.get(path.at(-1)));
  const read = guardSchema.safeParse(sample);
  return placedProblemsOf(read.error?.issues ?? []).filter(
    ({ path, rule }) => rule === "unknown field" || !open.has(JSON.stringify(path)),
  );
};
