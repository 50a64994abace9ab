import { followTask } from "../contract/tasks.ts";
import type { AccountSettings, AccountsConfig, SenderRights } from "./accounts-config.ts";
import { OWN } from "./accounts-schema.ts";

/** What somebody wants to do. */
export interface Wish {
  /** The AWS account that asks, as EventBridge or our own queue tells it; never what a request says. */
  readonly sender: string;
  readonly account: string;
  readonly operation: string;
  /** The project that the request names; undefined for operations that reach the whole client. */
  readonly project: number | undefined;
}

/** Who may do what. Says of a sender without rights the same whether or not an account exists. */
export interface Access {
  /** The accounts that a sender may use at all: with only one, a request need not name it. */
  accountsOf(sender: string): readonly string[];
  mayRun(wish: Wish): boolean;
  /** Whether the sender may know of what is in a project; undefined: of what is in none. */
  maySee(sender: string, account: string, project: number | undefined): boolean;
  /** How long a command may take that names no deadline, ms. */
  deadlineMs(account: string, operation: string): number;
}

type Scope = Pick<SenderRights, "operations" | "projects">;

const isListed = <T>(list: "all" | readonly T[], value: T): boolean =>
  list === "all" || list.includes(value);

/**
 * An operation without a project reaches all of them: it has to be listed by its name where not all
 * projects are allowed. Whose a followed task is shows when it is looked at.
 */
const coversPlace = (
  { operations, projects }: Scope,
  { operation, project }: Pick<Wish, "operation" | "project">,
): boolean => {
  if (operation === followTask.id) return true;
  return project === undefined
    ? projects === "all" || (operations !== "all" && operations.includes(operation))
    : isListed(projects, project);
};

/** Whether rights, or what an account allows at all, are enough for a wish. */
export const covers = (scope: Scope, wish: Pick<Wish, "operation" | "project">): boolean =>
  isListed(scope.operations, wish.operation) && coversPlace(scope, wish);

const sees = ({ projects }: Scope, project: number | undefined): boolean =>
  project === undefined ? projects === "all" : isListed(projects, project);

/** @param ownSender the AWS account that the config calls `own` */
export const createAccess = (config: AccountsConfig, ownSender: string): Access => {
  /**
   * An account may list `own` and our own id beside it, as nobody knows that id when the file is read:
   * what either entry gives counts, for none says what its sender may not do.
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
    mayRun(wish) {
      const account = find(wish.account);
      return (
        account !== undefined &&
        covers(account, wish) &&
        rightsOf(account, wish.sender).some((rights) => covers(rights, wish))
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
