import { readReactions } from "../../../lib/intake/config-files.ts";
import type { Reaction } from "../../../lib/intake/reaction.ts";
import type { ReactionContext } from "../../../lib/intake/reaction-rules.ts";
import type { AccountsConfig } from "../../../lib/provider/accounts-config.ts";
import { readAccountsFile } from "../../../lib/provider/accounts-file.ts";

const accountsOf = (text: string): AccountsConfig => {
  const read = readAccountsFile(text);
  if (read.kind === "invalid") throw new Error(JSON.stringify(read.problems));
  return read.value;
};

/** `main` has no limits, `narrow` allows two operations and one project, `placed` one project. */
const ACCOUNTS = accountsOf(`
accounts:
  - { name: main, senders: [own] }
  - { name: narrow, senders: [own], operations: [resume-instance, update-storage-event], projects: [7] }
  - { name: placed, senders: [own], projects: [7] }
`);

export const CONTEXT = { accounts: ACCOUNTS, eventSource: "skyhook" };

/** Returns the rules of a valid file. */
export const reactionsOf = (text: string): readonly Reaction[] => {
  const read = readReactions(text, CONTEXT);
  if (read.kind === "invalid") throw new Error(JSON.stringify(read.problems));
  return read.value;
};

/** Returns the only rule of a valid file. */
export const reactionOf = (text: string): Reaction => {
  const [only, ...others] = reactionsOf(text);
  if (!only || others.length > 0) throw new Error("not one rule");
  return only;
};

/** Returns every problem of a file as `line path: rule`. */
export const mistakesIn = (text: string, context: ReactionContext = CONTEXT): readonly string[] => {
  const read = readReactions(text, context);
  return read.kind === "valid"
    ? []
    : read.problems.map(({ path, rule, line }) => `${line} ${path}: ${rule}`);
};

/** Returns a file with one rule; `then`, `when` and `rest` are YAML. */
export const oneRule = (then: string, when = "{ source: [billing] }", rest = ""): string =>
  `reactions:
  - name: rule
    account: main
    when: ${when}
    then: ${then}
${rest && `    ${rest}\n`}`;

/** An event as EventBridge delivers it. */
export const eventWith = (fields: object = {}) => ({
  version: "0",
  id: "17793124-05d4-b198-2fde-7ededc63b103",
  "detail-type": "InvoicePaid",
  source: "billing",
  account: "111122223333",
  time: "2026-01-31T12:00:00Z",
  region: "eu-central-1",
  resources: [],
  detail: {},
  ...fields,
});
