import { basename } from "node:path";
import pc from "picocolors";
import type * as z from "zod";
import { configProblemText } from "../config/config-file.ts";
import { EVENT_DATA } from "../events/catalogue.ts";
import { priceChangeText } from "./price-change-text.ts";
import { shellWord } from "./shell-word.ts";
import { visibleText } from "./visible-text.ts";

/** What the line of a job's event says: what it is about, and what happened. */
export interface JobLine {
  readonly job: string;
  readonly subject: string;
  readonly text: string;
}

type DataOf<T extends keyof typeof EVENT_DATA> = z.output<(typeof EVENT_DATA)[T]>;

const MAX_PROBLEMS_SHOWN = 3;

/** `2 created, 1 left`: what is zero is left out. */
const countsText = (counts: Readonly<Record<string, unknown>>, names: readonly string[]): string =>
  names
    .filter((name) => Number(counts[name]) > 0)
    .map((name) => `${counts[name]} ${name}`)
    .join(", ");

const SYNCED = ["created", "updated", "deleted", "unchanged", "failed", "left"];

const syncedText = ({ counts, outcome }: DataOf<"ThresholdsSynced">): string => {
  const text = countsText(counts, SYNCED) || "nothing is wanted";
  return outcome === "complete" ? pc.green(`synced: ${text}`) : pc.red(`not all synced: ${text}`);
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

/** What an event of a scheduled job, or of an account, says to a person; undefined for every other event. */
export const jobLineOf = (
  detailType: string,
  data: unknown,
  account: string,
): JobLine | undefined => {
  switch (detailType) {
    case "ThresholdsSynced": {
      const synced = EVENT_DATA.ThresholdsSynced.parse(data);
      return { job: "thresholds", subject: basename(synced.source.name), text: syncedText(synced) };
    }
    case "ThresholdsDrifted": {
      const { source, counts } = EVENT_DATA.ThresholdsDrifted.parse(data);
      const text = pc.yellow(
        `drifted: ${countsText(counts, ["missing", "different", "unwanted"])}`,
      );
      return { job: "thresholds", subject: basename(source.name), text };
    }
    case "ThresholdsRejected": {
      const rejected = EVENT_DATA.ThresholdsRejected.parse(data);
      const text = rejectedText(rejected);
      return { job: "thresholds", subject: basename(rejected.source.name), text };
    }
    case "WatchlistRejected": {
      const rejected = EVENT_DATA.WatchlistRejected.parse(data);
      const text = rejectedText(rejected);
      return { job: "prices", subject: basename(rejected.source.name), text };
    }
    case "PricesCaptured": {
      const captured = EVENT_DATA.PricesCaptured.parse(data);
      return { job: "prices", subject: `${captured.items} items`, text: capturedText(captured) };
    }
    case "PriceChanged": {
      const changed = EVENT_DATA.PriceChanged.parse(data);
      return {
        job: "prices",
        subject: changed.name,
        text: pc.yellow(visibleText(priceChangeText(changed))),
      };
    }
    case "AiTaskEnded": {
      const ended = EVENT_DATA.AiTaskEnded.parse(data);
      return { job: "ai-task", subject: ended.taskId, text: endedText(ended) };
    }
    case "AccountKeyRefused": {
      const { since } = EVENT_DATA.AccountKeyRefused.parse(data);
      const text = pc.red(`the provider refuses the API key since ${since}: commands wait`);
      return { job: "account", subject: account, text };
    }
    case "AccountPaused": {
      const { until } = EVENT_DATA.AccountPaused.parse(data);
      const text = pc.red(
        `the provider asks for a pause until ${until}: commands wait; to go on: npx skyhook lift-pause ${shellWord(account)}`,
      );
      return { job: "account", subject: account, text };
    }
    case "AccountKeyAccepted":
      return {
        job: "account",
        subject: account,
        text: pc.green("the provider takes the API key again: commands go on"),
      };
    case "AiTaskListRefused": {
      const { status, since } = EVENT_DATA.AiTaskListRefused.parse(data);
      const text = pc.red(`the provider refuses the list of AI tasks (${status}) since ${since}`);
      return { job: "account", subject: account, text };
    }
    case "AiTaskListAccepted":
      return {
        job: "account",
        subject: account,
        text: pc.green("the provider shows the list of AI tasks again: they are watched"),
      };
    case "AiTaskVanished": {
      const { taskId } = EVENT_DATA.AiTaskVanished.parse(data);
      return { job: "ai-task", subject: taskId, text: pc.yellow("vanished: nobody knows its end") };
    }
    default:
      return undefined;
  }
};
