import type { JobName, JobRun } from "../local/job-run.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { checkedEndpoint } from "./endpoint-option.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { createGatewayClient } from "./gateway-client.ts";
import { jobLineOf } from "./job-event-line.ts";
import { printResult } from "./output.ts";
import { checkedStage } from "./stage-option.ts";
import { jsonLine, visibleText } from "./visible-text.ts";

export interface RunJobFlags {
  readonly endpoint?: string;
  readonly stage?: string;
  readonly json?: boolean;
}

const FLAG: Readonly<Record<JobName, string>> = {
  "sync-thresholds": "--thresholds FILE",
  "snapshot-prices": "--watchlist FILE",
  "watch-ai-tasks": "--ai-tasks WHICH",
};

/** The job did not do its work, although it ran to its end. */
const REFUSALS: ReadonlySet<string> = new Set([
  "AiTaskListRefused",
  "ThresholdsRejected",
  "WatchlistRejected",
]);

const linesOf = (name: JobName, run: Exclude<JobRun, { kind: "not-configured" }>): string => {
  const lines = run.events.map(({ detailType, data }) => {
    const line = jobLineOf(detailType, data, "");
    if (!line) return `${name}: ${visibleText(detailType)}`;
    // A price, or a task, is one of several; a file and an account are the job's own.
    const isOne = detailType === "PriceChanged" || detailType.startsWith("AiTask");
    return `${name}: ${isOne && line.subject !== "" ? `${visibleText(line.subject)}: ` : ""}${line.text}`;
  });
  return lines.join("\n");
};

const runLocally = async (name: JobName, { endpoint, json }: RunJobFlags): Promise<ExitCode> => {
  const run = await createGatewayClient(checkedEndpoint(endpoint)).runJob(name);
  if (run.kind === "not-configured") {
    const text = `${name} is not configured; give \`skyhook start\` ${FLAG[name]}`;
    throw new ExitError(EXIT.refused, text);
  }
  if (json) printResult(jsonLine(run));
  else if (run.events.length > 0) printResult(linesOf(name, run));
  else if (run.kind === "ended") {
    const why = visibleText(run.notes.join("; ")) || "nothing to publish";
    printResult(`${name} ended; ${why}`);
  }
  if (run.kind === "failed") {
    throw new ExitError(EXIT.failed, `${name} failed: ${visibleText(run.problem)}`);
  }
  return run.events.some(({ detailType }) => REFUSALS.has(detailType)) ? EXIT.failed : EXIT.ok;
};

/**
 * Runs a scheduled job now, in the running Skyhook or on a deployed stage, and waits for its end.
 * @throws ExitError when the job is not configured, is not reached, or fails
 */
export const runJob = async (
  name: JobName,
  flags: RunJobFlags,
  ports: { readonly clock: Clock; readonly random: Random },
): Promise<ExitCode> => {
  if (flags.stage === undefined) return runLocally(name, flags);
  const stage = checkedStage(flags.stage);
  // The AWS SDK takes its time to load.
  const { invokeJob } = await import("./stage-job.ts");
  await invokeJob(stage, name, ports);
  const ended = { kind: "ended" };
  const text = `${name} ended; what it found is in its events and its log`;
  printResult(flags.json ? jsonLine(ended) : text);
  return EXIT.ok;
};
