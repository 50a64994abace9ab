import pc from "picocolors";
import type { ConfigProblem } from "../config/config-file.ts";
import { STORAGE_EVENT_LIMITS } from "../contract/storage-events.ts";
import type { AppliedChange } from "../jobs/thresholds/apply.ts";
import { formatByteSize } from "../jobs/thresholds/config.ts";
import { changeView } from "../jobs/thresholds/sync-events.ts";
import type { Change, Plan, Target } from "../jobs/thresholds/threshold.ts";
import { jsonLine, visibleText } from "./visible-text.ts";

const NAME_COLUMNS = 24;

const limitText = ({ name }: Target, limit: string | undefined): string => {
  if (limit === undefined) return "no limit";
  if (STORAGE_EVENT_LIMITS[name] === "count") return limit;
  const size = formatByteSize(limit);
  return size === limit ? `${limit} B` : size;
};

const targetText = ({ name, storage_name, bucket_name }: Target): string =>
  [
    name.padEnd(NAME_COLUMNS),
    ...(storage_name ? [`storage ${visibleText(storage_name)}`] : []),
    ...(bucket_name ? [`bucket ${visibleText(bucket_name)}`] : []),
  ].join("  ");

/** One line of the diff. */
const changeText = (change: Change): string => {
  switch (change.action) {
    case "create": {
      const { threshold } = change;
      return pc.green(`+ ${targetText(threshold)}  ${limitText(threshold, threshold.limit)}`);
    }
    case "update": {
      const { threshold, from } = change;
      const limits = `${limitText(from, from.limit)} → ${limitText(threshold, threshold.limit)}`;
      return pc.yellow(`~ ${targetText(threshold)}  ${limits}`);
    }
    case "delete":
      return pc.red(`- ${targetText(change.from)}  ${limitText(change.from, change.from.limit)}`);
    default:
      return change satisfies never;
  }
};

const countOf = (changes: readonly Change[], action: Change["action"]): number =>
  changes.filter((change) => change.action === action).length;

/** A plan as a diff: what is added, changed and removed, and how much stays. */
export const planText = ({ changes, unchangedCount }: Plan): string =>
  [
    ...changes.map(changeText),
    [
      `${countOf(changes, "create")} to create`,
      `${countOf(changes, "update")} to update`,
      `${countOf(changes, "delete")} to delete`,
      `${unchangedCount} unchanged`,
    ].join(", "),
  ].join("\n");

/** A plan as JSON; limits are decimal texts, as in events. */
export const planJson = (
  { changes, unchangedCount }: Plan,
  about: { readonly actualFrom: "list" | "none"; readonly prune: boolean },
): string =>
  jsonLine({
    ...about,
    counts: {
      create: countOf(changes, "create"),
      update: countOf(changes, "update"),
      delete: countOf(changes, "delete"),
      unchanged: unchangedCount,
    },
    changes: changes.map(changeView),
  });

const outcomeText = (applied: AppliedChange): string => {
  switch (applied.outcome) {
    case "done":
      return "";
    case "failed":
      return `\n    refused: ${visibleText(applied.problem)}`;
    case "left":
      return `\n    not done${applied.problem ? `: ${visibleText(applied.problem)}` : ""}`;
    default:
      return applied satisfies never;
  }
};

/** What became of each change, and how many were made. */
export const appliedText = (applied: readonly AppliedChange[], unchangedCount: number): string => {
  const done = applied.flatMap((each) => (each.outcome === "done" ? [each.action] : []));
  const doneCount = (action: Change["action"]) => done.filter((each) => each === action).length;
  return [
    ...applied.map((each) => changeText(each.change) + outcomeText(each)),
    [
      `${doneCount("create")} created`,
      `${doneCount("update")} updated`,
      `${doneCount("delete")} deleted`,
      `${unchangedCount} unchanged`,
      `${applied.length - done.length} not done`,
    ].join(", "),
  ].join("\n");
};

/** Problems of a config as compilers write them: file, line, what is wrong. */
export const fileProblemText = (file: string, problems: readonly ConfigProblem[]): string =>
  problems
    .map(({ path, rule, line }) => [line ? `${file}:${line}` : file, path, rule])
    .map((parts) => parts.filter(Boolean).map(visibleText).join(": "))
    .join("\n");
