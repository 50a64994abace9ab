import { Argument } from "commander";
import { JOB_NAMES, type JobName, type JobRun } from "../../admin/job-run.ts";
import { EVENT_DATA } from "../../events/catalogue.ts";
import { createGatewayClient } from "../admin/gateway.ts";
import { runAddress } from "../endpoint.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { jobLineOf } from "../job-event-line.ts";
import { jsonLine, printResult, visibleText } from "../render.ts";
import {
  addExamples,
  checkedStage,
  type DeclareVerb,
  ending,
  endpointOption,
  type Ports,
  stageOption,
  stageRights,
} from "../verb.ts";

interface RunFlags {
  readonly endpoint?: string;
  readonly stage?: string;
  readonly json?: boolean;
}

const FLAG: Readonly<Record<JobName, string>> = {
  "sync-thresholds": "--thresholds FILE",
  "snapshot-prices": "--watchlist FILE",
  "watch-ai-tasks": "--ai-tasks WHICH",
};

type Run = Exclude<JobRun, { kind: "not-configured" }>;

/** Events of a job that ended without doing its work. */
const REFUSALS: ReadonlySet<string> = new Set([
  "AiTaskListRefused",
  "ThresholdsRejected",
  "WatchlistRejected",
]);

/** Whether the event reports that the job did not do all of its work. */
const isFailure = ({ detailType, data }: Run["events"][number]): boolean =>
  REFUSALS.has(detailType) ||
  (detailType === "ThresholdsSynced" &&
    EVENT_DATA.ThresholdsSynced.parse(data).outcome === "partial");

const linesOf = (name: JobName, run: Run): string => {
  const lines = run.events.map(({ detailType, data }) => {
    const line = jobLineOf(detailType, data, "");
    if (!line) return `${name}: ${visibleText(detailType)}`;
    // A run has several prices or tasks, but one file and one account, which need no name.
    const isOne = detailType === "PriceChanged" || detailType.startsWith("AiTask");
    return `${name}: ${isOne && line.subject !== "" ? `${visibleText(line.subject)}: ` : ""}${line.text}`;
  });
  return lines.join("\n");
};

const runLocally = async (name: JobName, { endpoint, json }: RunFlags): Promise<ExitCode> => {
  const run = await createGatewayClient(runAddress(endpoint)).runJob(name);
  if (run.kind === "not-configured") {
    const text = `${name} is not configured; restart Skyhook: npx skyhook start ${FLAG[name]}`;
    throw new ExitError(EXIT.refused, text);
  }
  if (json) printResult(jsonLine(run));
  else if (run.events.length > 0) printResult(linesOf(name, run));
  else if (run.kind === "ended") {
    const why = visibleText(run.notes.join("; ")) || "no events to publish";
    printResult(`${name} ended; ${why}`);
  }
  if (run.kind === "failed") {
    throw new ExitError(EXIT.failed, `${name} failed: ${visibleText(run.problem)}`);
  }
  return run.events.some(isFailure) ? EXIT.failed : EXIT.ok;
};

/** Runs the job in a running Skyhook or on a deployed stage, and waits for its end. */
const runJob = async (name: JobName, flags: RunFlags, ports: Ports): Promise<ExitCode> => {
  if (flags.stage === undefined) return runLocally(name, flags);
  const { invokeJob } = await import("../admin/stage-jobs.ts");
  await invokeJob(checkedStage(flags.stage), name, ports);
  const text = `${name} ended; for the results, see its events and its log`;
  printResult(flags.json ? jsonLine({ kind: "ended" }) : text);
  return EXIT.ok;
};

const DESCRIPTION = `Runs a scheduled job now, as its schedule does, and waits for its end. For a running Skyhook it prints a line for each event of the run. For a stage, the published events and the function's log show the results.

${stageRights("lambda:InvokeFunction on the function skyhook-STAGE-JOB")}`;

export const declareRun: DeclareVerb = (command, ports) => {
  addExamples(command.description(DESCRIPTION), [
    "npx skyhook run sync-thresholds",
    "npx skyhook run snapshot-prices --stage prod",
  ])
    .addArgument(new Argument("<job>", "scheduled job").choices(JOB_NAMES))
    .option("--json", "print JSON")
    .addOption(endpointOption())
    .addOption(stageOption())
    .action(ending((job: JobName, flags: RunFlags) => runJob(job, flags, ports)));
};
