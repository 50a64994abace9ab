import { basename } from "node:path";
import pc from "picocolors";
import type * as z from "zod";
import { configProblemText } from "../config/config-file.ts";
import { EVENT_DATA } from "../events/catalogue.ts";
import { shellWord, visibleText } from "./render.ts";

type PriceChanged = z.output<typeof EVENT_DATA.PriceChanged>;
type Total = PriceChanged["before"];
type Unit = "per_month" | "per_hour";

const UNIT_TEXT = { per_month: "a month", per_hour: "an hour" } as const;

/** The unit that both totals have, else the unit of one; per month first, as in the event's percentage. */
const unitOf = (before: Total, after: Total): Unit | undefined => {
  const units = ["per_month", "per_hour"] as const;
  return (
    units.find((unit) => before[unit] !== null && after[unit] !== null) ??
    units.find((unit) => before[unit] !== null || after[unit] !== null)
  );
};

const countText = (count: number): string =>
  count === 1 ? "1 category changed" : `${count} categories changed`;

/** `from → to`; with both currencies if they differ. */
const stepText = (before: Total, after: Total, unit: Unit): string => {
  const from = before[unit] ?? "?";
  const to = after[unit] ?? "?";
  const currency = after.currency ?? "?";
  const step =
    before.currency === after.currency
      ? `${from} → ${to} ${currency}`
      : `${from} ${before.currency ?? "?"} → ${to} ${currency}`;
  return `${step} ${UNIT_TEXT[unit]}`;
};

/** A changed price in one line: `48.20 → 51.08 EUR a month (+5.97 %)`. */
const priceChangeText = (changed: PriceChanged): string => {
  const { before, after, percent, categoryCount } = changed;
  const unit = unitOf(before, after);
  if (before.currency === after.currency) {
    if (!unit) return `no total: ${countText(categoryCount)}`;
    if (before[unit] === after[unit]) {
      const total = `${after[unit]} ${after.currency ?? "?"} ${UNIT_TEXT[unit]}`;
      return `total unchanged, ${total}: ${countText(categoryCount)}`;
    }
  }
  const share = percent === null ? "" : ` (${percent.startsWith("-") ? "" : "+"}${percent} %)`;
  return stepText(before, after, unit ?? "per_month") + share;
};

/** The parts of a job event's line: `subject` is the file, price, task or account. */
export interface JobLine {
  readonly job: string;
  readonly subject: string;
  readonly text: string;
}

type DataOf<T extends keyof typeof EVENT_DATA> = z.output<(typeof EVENT_DATA)[T]>;

const MAX_PROBLEMS_SHOWN = 3;

/** `2 created, 1 left`, without the zeros. */
const countsText = (counts: Readonly<Record<string, unknown>>, names: readonly string[]): string =>
  names
    .filter((name) => Number(counts[name]) > 0)
    .map((name) => `${counts[name]} ${name}`)
    .join(", ");

const SYNCED = ["created", "updated", "deleted", "unchanged", "failed", "left"];

const syncedText = ({ counts, outcome }: DataOf<"ThresholdsSynced">): string => {
  const text = countsText(counts, SYNCED) || "no thresholds";
  return outcome === "complete" ? pc.green(`synced: ${text}`) : pc.red(`partly synced: ${text}`);
};

const rejectedText = ({
  problems,
  problemCount,
}: Pick<DataOf<"ThresholdsRejected">, "problems" | "problemCount">): string => {
  const shown = problems.slice(0, MAX_PROBLEMS_SHOWN).map(configProblemText);
  const more = problemCount - shown.length;
  const all = [...shown, ...(more > 0 ? [`${more} more`] : [])];
  return pc.yellow(visibleText(`rejected: ${all.join("; ")}`));
};

const capturedText = ({ notCompared, ...data }: DataOf<"PricesCaptured">): string => {
  const counts = { ...data, "not compared": notCompared };
  const names = ["first", "changed", "unchanged", "not compared", "failed"];
  return `captured: ${countsText(counts, names) || "nothing to compare"}`;
};

const endedText = ({ status, taskName = "task" }: DataOf<"AiTaskEnded">): string =>
  (status === "SUCCESS" ? pc.green : pc.red)(`${visibleText(taskName)} ended: ${status}`);

const line = (job: string, subject: string, text: string): JobLine => ({ job, subject, text });

/** The line for an event of a scheduled job or of an account; undefined for every other event. */
export const jobLineOf = (
  detailType: string,
  data: unknown,
  account: string,
): JobLine | undefined => {
  switch (detailType) {
    case "ThresholdsSynced": {
      const synced = EVENT_DATA.ThresholdsSynced.parse(data);
      return line("thresholds", basename(synced.source.name), syncedText(synced));
    }
    case "ThresholdsDrifted": {
      const { source, counts } = EVENT_DATA.ThresholdsDrifted.parse(data);
      const drift = countsText(counts, ["missing", "different", "unwanted"]);
      return line("thresholds", basename(source.name), pc.yellow(`drifted: ${drift}`));
    }
    case "ThresholdsRejected": {
      const rejected = EVENT_DATA.ThresholdsRejected.parse(data);
      return line("thresholds", basename(rejected.source.name), rejectedText(rejected));
    }
    case "WatchlistRejected": {
      const rejected = EVENT_DATA.WatchlistRejected.parse(data);
      return line("prices", basename(rejected.source.name), rejectedText(rejected));
    }
    case "PricesCaptured": {
      const captured = EVENT_DATA.PricesCaptured.parse(data);
      return line("prices", `${captured.items} items`, capturedText(captured));
    }
    case "PriceChanged": {
      const changed = EVENT_DATA.PriceChanged.parse(data);
      return line("prices", changed.name, pc.yellow(visibleText(priceChangeText(changed))));
    }
    case "AiTaskEnded": {
      const ended = EVENT_DATA.AiTaskEnded.parse(data);
      return line("ai-task", ended.taskId, endedText(ended));
    }
    case "AiTaskVanished": {
      const { taskId } = EVENT_DATA.AiTaskVanished.parse(data);
      return line("ai-task", taskId, pc.yellow("vanished: its end is unknown"));
    }
    case "AiTaskListRefused": {
      const { status, since } = EVENT_DATA.AiTaskListRefused.parse(data);
      const text = `the provider has refused the list of AI tasks (${status}) since ${since}`;
      return line("account", account, pc.red(text));
    }
    case "AiTaskListAccepted": {
      const text = "the provider lists AI tasks again: Skyhook watches them";
      return line("account", account, pc.green(text));
    }
    case "AccountKeyRefused": {
      const { since } = EVENT_DATA.AccountKeyRefused.parse(data);
      const text = `the provider has refused the API key since ${since}: commands wait`;
      return line("account", account, pc.red(text));
    }
    case "AccountKeyAccepted": {
      const text = "the provider accepts the API key again: commands continue";
      return line("account", account, pc.green(text));
    }
    case "AccountPaused": {
      const { until } = EVENT_DATA.AccountPaused.parse(data);
      const text = `the provider requested a pause until ${until}: commands wait; to end it: npx skyhook lift-pause ${shellWord(account)}`;
      return line("account", account, pc.red(text));
    }
    default:
      return undefined;
  }
};
