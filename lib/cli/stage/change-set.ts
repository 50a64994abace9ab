import type { Columns } from "../layout.ts";
import { tableText } from "../render.ts";

/** One resource that a change set adds, changes or removes. */
export interface ResourceChange {
  readonly action: "add" | "change" | "replace" | "may-replace" | "remove";
  readonly type: string;
  readonly logicalId: string;
  /** Names of the changed properties and attributes. */
  readonly properties: readonly string[];
  /** Whether a removed or replaced resource stays in the AWS account, outside of the stack. */
  readonly isKept: boolean;
}

/** Resources that hold data of operators or of commands. */
const WITH_DATA: ReadonlySet<string> = new Set([
  "AWS::DynamoDB::Table",
  "AWS::Events::Archive",
  "AWS::Logs::LogGroup",
  "AWS::S3::Bucket",
  "AWS::SQS::Queue",
]);

/** Whether AWS deletes data with the change. */
const losesData = ({ action, type, isKept }: ResourceChange): boolean =>
  ["replace", "may-replace", "remove"].includes(action) && WITH_DATA.has(type) && !isKept;

const WORDS: Readonly<Record<ResourceChange["action"], string>> = {
  add: "+ add",
  change: "~ change",
  replace: "! replace",
  "may-replace": "! may replace",
  remove: "- remove",
};

const COUNTED: Readonly<Record<ResourceChange["action"], string>> = {
  add: "to add",
  change: "to change",
  replace: "to replace",
  "may-replace": "perhaps to replace",
  remove: "to remove",
};

/** A type without the part that all of them have, so that a row fits a terminal. */
const shortType = (type: string): string => type.replace(/^AWS::/, "");

/** Harmless changes first, so that the ones to check are right above the question. */
const ORDER = ["add", "change", "may-replace", "replace", "remove"] as const;

const noteOn = (change: ResourceChange): string => {
  const { action, isKept, properties } = change;
  const data = losesData(change) ? "DELETES ITS DATA" : "";
  const kept = isKept && action !== "change" ? "the old one stays, outside of the stack" : "";
  const names = properties.length > 0 ? properties.join(", ") : "";
  return [data, kept, names].filter(Boolean).join("; ");
};

/** Additions are listed by type: a new stack has a hundred of them, and none can do harm. */
const additionRows = (changes: readonly ResourceChange[]) =>
  [...new Set(changes.map(({ type }) => type))].toSorted().map((added) => {
    const these = changes.filter(({ type }) => type === added);
    const [only] = these;
    return [
      WORDS.add,
      shortType(added),
      these.length === 1 && only ? only.logicalId : `${these.length} of them`,
    ];
  });

const countText = (changes: readonly ResourceChange[]): string => {
  const counts = ORDER.map((action) => {
    const count = changes.filter((change) => change.action === action).length;
    return count > 0 ? [`${count} ${COUNTED[action]}`] : [];
  });
  const losing = changes.filter(losesData).length;
  return [...counts.flat(), ...(losing > 0 ? [`${losing} of them would DELETE DATA`] : [])].join(
    ", ",
  );
};

/** The changes of a change set as a table, with the number of each kind below it. */
export const changesText = (changes: readonly ResourceChange[], columns: Columns): string => {
  const rows = ORDER.flatMap((action) => {
    const these = changes.filter((change) => change.action === action);
    return action === "add"
      ? additionRows(these)
      : these.map((change) => [
          WORDS[action],
          shortType(change.type),
          [change.logicalId, noteOn(change)].filter(Boolean).join(": "),
        ]);
  });
  return `${tableText(["CHANGE", "TYPE", "RESOURCE"], rows, columns)}\n${countText(changes)}`;
};
