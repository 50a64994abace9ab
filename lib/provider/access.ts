import { followTask } from "../contract/tasks.ts";
import type { AccountSettings, AccountsConfig, SenderRights } from "./accounts-config.ts";
import { OWN } from "./accounts-schema.ts";

export interface AccessRequest {
  /** The AWS account of the sender, as EventBridge or our own queue reports it; never from the request. */
  readonly sender: string;
  readonly account: string;
  readonly operation: string;
  /** Undefined for operations that are not limited to one project. */
  readonly project: number | undefined;
}

/** Rights of senders. A sender without rights gets the same answer for an unknown account. */
export interface Access {
  /** Accounts on which a sender has any right. With exactly one, a request may leave it out. */
  accountsOf(sender: string): readonly string[];
  mayRun(request: AccessRequest): boolean;
  /** Whether the sender may see resources of a project, or without a project if it is undefined. */
  maySee(sender: string, account: string, project: number | undefined): boolean;
  /** Time limit of a command that names no deadline, ms. */
  deadlineMs(account: string, operation: string): number;
}

type Scope = Pick<SenderRights, "operations" | "projects">;

const isListed = <T>(list: "all" | readonly T[], value: T): boolean =>
  list === "all" || list.includes(value);

/**
 * An operation without a project reaches all projects: rights to some projects must list it by name.
 * The project of a followed task is checked when the task is read.
 */
const coversProject = (
  { operations, projects }: Scope,
  { operation, project }: Pick<AccessRequest, "operation" | "project">,
): boolean => {
  if (operation === followTask.id) return true;
  return project === undefined
    ? projects === "all" || (operations !== "all" && operations.includes(operation))
    : isListed(projects, project);
};

/** Whether the rights of a sender, or the limits of an account, cover a request. */
export const covers = (
  scope: Scope,
  request: Pick<AccessRequest, "operation" | "project">,
): boolean => isListed(scope.operations, request.operation) && coversProject(scope, request);

const sees = ({ projects }: Scope, project: number | undefined): boolean =>
  project === undefined ? projects === "all" : isListed(projects, project);

/** @param ownSender id of the AWS account that the config calls `own` */
export const createAccess = (config: AccountsConfig, ownSender: string): Access => {
  /**
   * The file is read without our own AWS account id, so an account may list both `own` and that id. The
   * rights of both entries add up.
   */
  const rightsOf = (account: AccountSettings | undefined, sender: string) =>
    (account?.senders ?? []).filter(
      (rights) => (rights.sender === OWN ? ownSender : rights.sender) === sender,
    );
  const find = (name: string) => config.accounts.find((account) => account.name === name);
  return {
    accountsOf: (sender) =>
      config.accounts
        .filter((account) => rightsOf(account, sender).length > 0)
        .map(({ name }) => name),
    mayRun(request) {
      const account = find(request.account);
      return (
        account !== undefined &&
        covers(account, request) &&
        rightsOf(account, request.sender).some((rights) => covers(rights, request))
      );
    },
    maySee(sender, name, project) {
      const account = find(name);
      return (
        account !== undefined &&
        sees(account, project) &&
        rightsOf(account, sender).some((rights) => sees(rights, project))
      );
    },
    deadlineMs(name, operation) {
      const deadlines = find(name)?.deadlinesMs;
      return deadlines?.[operation] ?? deadlines?.default ?? 0;
    },
  };
};
