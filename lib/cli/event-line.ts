import pc from "picocolors";
import * as z from "zod";
import type { BusEvent } from "../local/local-bus.ts";
import { DEFAULT_ACCOUNT } from "../provider/accounts.ts";
import { type JobLine, jobLineOf } from "./job-event-line.ts";
import { visibleText } from "./render.ts";

const COLUMNS = 36;

const line = (event: BusEvent, way: string, text: string): string =>
  [pc.dim(event.time.slice(11, 19).padEnd(12)), way.padEnd(COLUMNS), visibleText(text)].join("  ");

/** An event of another AWS account on the bus. */
export const incomingLine = (event: BusEvent): string =>
  line(event, `from ${event.account}`, `${event["detail-type"]} (${event.source})`);

const metadataSchema = z.object({ metadata: z.object({ commandId: z.string().optional() }) });

/** An event of ours that has gone to another AWS account's bus. */
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
    problems: z.array(z.object({ path: z.string(), rule: z.string() })).optional(),
  }),
});

type Data = z.output<typeof detailSchema>["data"];

/** So that a line with a short command id fits 120 columns. */
const LANE_COLUMNS = 36;
const COMMAND_COLUMNS = 26;

const UUID = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}([0-9a-f]{4})\b/g;

/** Ids of our own begin with the time, so those of one minute differ in their ends only. */
const shortened = (text: string): string => text.replace(UUID, "$1…$2");

/** The end is kept: resources differ there. */
const clipped = (text: string): string =>
  text.length > LANE_COLUMNS ? `…${text.slice(1 - LANE_COLUMNS)}` : text;

/** The account is named where it is not the one that local runs have by themselves. */
const laneText = (lane: string): string => {
  const [account, resource = "", ...parts] = lane.split("/").map(decodeURIComponent);
  const text = [resource, parts.filter(Boolean).map(shortened).join("/")].join(" ");
  return clipped(visibleText(account === DEFAULT_ACCOUNT ? text : `${account}: ${text}`));
};

/** Who asked for what has no lane; our own AWS account needs no name. */
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
  // The lines of the tasks have said why.
  const isToldAlready = data.reason === "task-failed" || data.reason === "task-unknown";
  return visibleText(`failed (${data.reason}) ${isToldAlready ? "" : problemText(data)}`.trimEnd());
};

const SUCCESS = new Map([
  ["no-op", "succeeded, there was nothing to do"],
  ["dry-run", "dry run: it would be sent"],
]);

const lostText = ({ lostReplies = 0 }: Data): string =>
  lostReplies > 0
    ? "; a reply was lost, so an earlier request or another client may have done it"
    : "";

/** What a guard has seen. */
const tagText = ({ tag }: Data): string => {
  if (tag === undefined) return "";
  return tag === null ? ", but there is none" : `, but is ${JSON.stringify(tag.value)}`;
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
 * One line an event: time, lane, command, what happened, how long it took; of a scheduled job instead
 * of lane and command its name and what it is about.
 */
export const eventLine = (event: BusEvent): string => {
  const detail = detailSchema.safeParse(event.detail);
  // A person may have put one that is none of ours.
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
    // Never cut: it is what `skyhook status` asks for.
    pc.bold(command.padEnd(COMMAND_COLUMNS)),
    happened(event["detail-type"], data) + took,
  ].join("  ");
};
