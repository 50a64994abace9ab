import pc from "picocolors";
import * as z from "zod";
import type { BusEvent } from "../local/local-bus.ts";
import { DEFAULT_ACCOUNT } from "../provider/accounts.ts";
import { type JobLine, jobLineOf } from "./job-event-line.ts";
import { visibleText } from "./render.ts";

const COLUMNS = 36;

const line = (event: BusEvent, way: string, text: string): string =>
  [pc.dim(event.time.slice(11, 19).padEnd(12)), way.padEnd(COLUMNS), visibleText(text)].join("  ");

/** A line for an event that another AWS account put on the bus. */
export const incomingLine = (event: BusEvent): string =>
  line(event, `from ${event.account}`, `${event["detail-type"]} (${event.source})`);

const metadataSchema = z.object({ metadata: z.object({ commandId: z.string().optional() }) });

/** A line for an event that Skyhook has forwarded to another AWS account's bus. */
export const forwardedLine = (awsAccount: string, event: BusEvent): string => {
  const { commandId = "" } = metadataSchema.safeParse(event.detail).data?.metadata ?? {};
  return line(event, `to the bus of ${awsAccount}`, `${event["detail-type"]} ${commandId}`);
};

const detailSchema = z.object({
  metadata: z.object({
    commandId: z.string().optional(),
    sender: z.string().optional(),
    account: z.string().optional(),
    time: z.string(),
  }),
  data: z.looseObject({
    operation: z.string().optional(),
    lane: z.string().optional(),
    taskId: z.string().optional(),
    outcome: z.string().optional(),
    lostReplies: z.number().optional(),
    reason: z.string().optional(),
    durationMs: z.number().optional(),
    tag: z.object({ value: z.string() }).nullable().optional(),
    requestedCommandId: z.string().optional(),
    applied: z.boolean().optional(),
    note: z.string().optional(),
    createdResources: z
      .record(z.string(), z.array(z.union([z.string(), z.number()])).nullable())
      .optional(),
    problems: z.array(z.looseObject({ path: z.string(), rule: z.string() })).optional(),
  }),
});

type Data = z.output<typeof detailSchema>["data"];

/** Widths with which a line with a short command id fits 120 columns. */
const LANE_COLUMNS = 36;
const COMMAND_COLUMNS = 26;

const UUID = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}([0-9a-f]{4})\b/g;

/** Shortens UUIDs. Generated ids begin with the time, so ids of one minute differ only at the end. */
const shortened = (text: string): string => text.replace(UUID, "$1…$2");

/** Cuts the beginning, because names of resources differ at the end. */
const clipped = (text: string): string =>
  text.length > LANE_COLUMNS ? `…${text.slice(1 - LANE_COLUMNS)}` : text;

/** The lane, with its account unless that is the default account of local runs. */
const laneText = (lane: string): string => {
  const [account, resource = "", ...parts] = lane.split("/").map(decodeURIComponent);
  const text = [resource, parts.filter(Boolean).map(shortened).join("/")].join(" ");
  return clipped(visibleText(account === DEFAULT_ACCOUNT ? text : `${account}: ${text}`));
};

/** The sender of an event without a lane; `-` for Skyhook's own AWS account. */
const askerText = ({ account }: BusEvent, { sender }: { readonly sender?: string | undefined }) =>
  sender === undefined || sender === account ? "-" : visibleText(`AWS account ${sender}`);

const problemText = ({ problems = [] }: Data): string =>
  problems.map(({ path, rule }) => (path === "" ? rule : `${path}: ${rule}`)).join("; ");

const createdText = ({ createdResources = {} }: Data): string =>
  visibleText(
    Object.entries(createdResources)
      .map(([kind, ids]) => `, ${kind} ${(ids ?? []).join(" ")}`)
      .join(""),
  );

const failureText = (data: Data): string => {
  // The lines of the tasks have the problems.
  const isReported = data.reason === "task-failed" || data.reason === "task-unknown";
  return visibleText(`failed (${data.reason}) ${isReported ? "" : problemText(data)}`.trimEnd());
};

const SUCCESS = new Map([
  ["no-op", "succeeded, nothing to change"],
  ["dry-run", "dry run succeeded, nothing sent"],
]);

const lostText = ({ lostReplies = 0 }: Data): string =>
  lostReplies > 0
    ? "; a reply was lost: an earlier request or another client may have caused it"
    : "";

/** The tag that a guard found. */
const tagText = ({ tag }: Data): string => {
  if (tag === undefined) return "";
  return tag === null ? ", but there is no such tag" : `, but is ${JSON.stringify(tag.value)}`;
};

const resolvedText = ({ applied, note }: Data): string =>
  [
    `resolved: it ${applied ? "took effect" : "did not take effect"}`,
    note === undefined ? "" : `, ${note}`,
  ].join("");

const happened = (detailType: string, data: Data): string => {
  switch (detailType) {
    case "CommandAccepted":
      return visibleText(`accepted ${data.operation}`);
    case "CommandRejected":
      return pc.yellow(visibleText(`rejected (${data.reason}) ${problemText(data)}`));
    case "TaskFinished":
      return shortened(visibleText(`task ${data.taskId} finished`));
    case "TaskFailed":
      return pc.red(shortened(visibleText(`task ${data.taskId} failed: ${problemText(data)}`)));
    case "CommandSucceeded":
      return pc.green(
        (SUCCESS.get(data.outcome ?? "") ?? shortened(`succeeded${createdText(data)}`)) +
          lostText(data),
      );
    case "CommandFailed":
      return pc.red(failureText(data));
    case "CommandCancelled":
      return pc.yellow(
        visibleText(`cancelled (${data.reason}) ${problemText(data)}${tagText(data)}`),
      );
    case "CommandResolved":
      return pc.cyan(visibleText(resolvedText(data)));
    default:
      return visibleText(detailType);
  }
};

const jobEventLine = (time: string, { job, subject, text }: JobLine): string =>
  [
    pc.dim(time),
    job.padEnd(LANE_COLUMNS),
    pc.bold(clipped(shortened(visibleText(subject))).padEnd(COMMAND_COLUMNS)),
    text,
  ].join("  ");

/**
 * A line for a published event: time, lane, command, result, duration. An event of a scheduled job has the name of
 * the job and its subject instead of lane and command.
 */
export const eventLine = (event: BusEvent): string => {
  const detail = detailSchema.safeParse(event.detail);
  // The user may have put an event of another format.
  if (!detail.success) return incomingLine(event);
  const { metadata, data } = detail.data;
  const time = visibleText(metadata.time.slice(11, 23));
  const job = jobLineOf(event["detail-type"], data, metadata.account ?? "-");
  if (job) return jobEventLine(time, job);
  const command = visibleText(metadata.commandId ?? data.requestedCommandId ?? "-");
  const took =
    data.durationMs === undefined ? "" : pc.dim(` ${(data.durationMs / 1000).toFixed(1)} s`);
  return [
    pc.dim(time),
    (data.lane === undefined ? askerText(event, metadata) : laneText(data.lane)).padEnd(
      LANE_COLUMNS,
    ),
    // Never cut, because `skyhook status` needs the whole id.
    pc.bold(command.padEnd(COMMAND_COLUMNS)),
    happened(event["detail-type"], data) + took,
  ].join("  ");
};
