import type { Mutation } from "../contract/operation.ts";
import type { PlacedProblem } from "../contract/problem.ts";
import { covers } from "../provider/access.ts";
import type { AccountSettings } from "../provider/accounts-config.ts";
import type { Template } from "./mapping.ts";

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
