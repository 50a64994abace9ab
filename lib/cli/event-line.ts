import pc from "picocolors";
import wrapAnsi from "wrap-ansi";
import * as z from "zod";
import type { BusEvent } from "../local/local-bus.ts";
import { DEFAULT_ACCOUNT } from "../provider/default-account.ts";
import { type JobLine, jobLineOf } from "./job-event-line.ts";
import type { Columns } from "./layout.ts";
import { visibleText } from "./render.ts";
import { textWidth } from "./text-width.ts";

/** Widths with which a line with a short command id fits `WIDE` columns. */
const TIME_COLUMNS = 12;
const LANE_COLUMNS = 36;
const COMMAND_COLUMNS = 26;
/** Columns of a terminal that show the lane beside the command, and milliseconds. */
const WIDE = 120;
const SHORT_TIME_COLUMNS = 8;
const GAP = 2;
/** Columns in which a result is still readable beside the others. */
const MIN_RESULT_COLUMNS = 24;

const isNarrow = (columns: Columns): columns is number => columns !== undefined && columns < WIDE;

/** Spaces at the end, before the end of a colour. */
const END = / +(?=(?:\p{Cc}\[\d+m)*$)/u;

/** Width of the widest word. */
const wordWidth = (text: string): number =>
  Math.max(...text.split(/\s/).map((word) => textWidth(word)));

/**
 * Aligned cells, and behind them a result. Its further lines are below it, or below the second cell where a word
 * does not fit there.
 */
const lineOf = (
  cells: readonly string[],
  widths: readonly number[],
  result: string,
  columns: Columns,
): string => {
  const padding = cells.map((cell, at) => (widths[at] ?? 0) - textWidth(cell));
  const head = cells.map((cell, at) => cell + " ".repeat(Math.max(0, padding[at] ?? 0))).join("  ");
  if (columns === undefined) return `${head}  ${result}`;
  const [timeWidth = 0] = widths;
  const below = widths.reduce((sum, width) => sum + width + GAP, 0);
  const behind = (text: string): string => {
    const hang = wordWidth(text) <= columns - below ? below : timeWidth + GAP;
    const lines = wrapAnsi(text, columns - hang).split("\n");
    return lines.map((each) => `\n${" ".repeat(hang)}${each}`).join("");
  };
  const [sentence = "", ...more] = result.split("\n");
  const room = columns - textWidth(head) - GAP;
  const rest = more.map(behind).join("");
  if (room < Math.min(textWidth(sentence), MIN_RESULT_COLUMNS)) {
    return `${head.trimEnd()}${behind(sentence)}${rest}`;
  }
  const [first = "", ...others] = wrapAnsi(sentence, room, { trim: false }).split("\n");
  const further = others.length === 0 ? "" : behind(others.join("").trimStart());
  return `${head}  ${first.replace(END, "")}${further}${rest}`;
};

const line = (event: BusEvent, way: string, text: string, columns: Columns): string => {
  const widths = isNarrow(columns)
    ? [SHORT_TIME_COLUMNS, COMMAND_COLUMNS]
    : [TIME_COLUMNS, LANE_COLUMNS];
  return lineOf([pc.dim(event.time.slice(11, 19)), way], widths, visibleText(text), columns);
};

/** A line for an event that another AWS account put on the bus. */
export const incomingLine = (event: BusEvent, columns?: Columns): string =>
  line(event, `from ${event.account}`, `${event["detail-type"]} (${event.source})`, columns);

const metadataSchema = z.object({ metadata: z.object({ commandId: z.string().optional() }) });

/** A line for an event that Skyhook has forwarded to another AWS account's bus. */
export const forwardedLine = (awsAccount: string, event: BusEvent, columns?: Columns): string => {
  const { commandId = "" } = metadataSchema.safeParse(event.detail).data?.metadata ?? {};
  const text = `${event["detail-type"]} ${commandId}`;
  return line(event, `to the bus of ${awsAccount}`, text, columns);
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

const UUID = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}([0-9a-f]{4})\b/g;

/** Shortens UUIDs. Generated ids begin with the time, so ids of one minute differ only at the end. */
const shortened = (text: string): string => text.replace(UUID, "$1…$2");

/** Cuts the beginning, because names of resources differ at the end. */
const clipped = (text: string, columns = LANE_COLUMNS): string =>
  text.length > columns ? `…${text.slice(1 - columns)}` : text;

/** Columns of an account's name in a lane. It is cut at its end, so that the resource has room. */
const ACCOUNT_COLUMNS = 14;

/** Name of an account, with a colon; empty for the default account of local runs. */
const accountText = (account: string): string =>
  account === DEFAULT_ACCOUNT ? "" : `${visibleText(account)}: `;

const resourceText = (parts: readonly string[]): string => {
  const [kind = "", ...names] = parts.map(decodeURIComponent);
  return visibleText([kind, names.filter(Boolean).map(shortened).join("/")].join(" "));
};

/** The lane within `LANE_COLUMNS`; `skyhook status` shows it whole. */
const laneText = (lane: string): string => {
  const [account = "", ...parts] = lane.split("/");
  const whole = accountText(decodeURIComponent(account));
  const name = whole.length > ACCOUNT_COLUMNS ? `${whole.slice(0, ACCOUNT_COLUMNS - 3)}…: ` : whole;
  return name + clipped(resourceText(parts), LANE_COLUMNS - name.length);
};

/** The lane, whole except for shortened UUIDs. */
const wholeLane = (lane: string): string => {
  const [account = "", ...parts] = lane.split("/");
  return accountText(decodeURIComponent(account)) + resourceText(parts);
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

const WIDE_WIDTHS = [TIME_COLUMNS, LANE_COLUMNS, COMMAND_COLUMNS];
const NARROW_WIDTHS = [SHORT_TIME_COLUMNS, COMMAND_COLUMNS];

const jobEventLine = (time: string, { job, subject, text }: JobLine, columns: Columns): string => {
  const name = shortened(visibleText(subject));
  return isNarrow(columns)
    ? lineOf([pc.dim(time.slice(0, 8)), `${job} ${pc.bold(name)}`], NARROW_WIDTHS, text, columns)
    : lineOf([pc.dim(time), job, pc.bold(clipped(name))], WIDE_WIDTHS, text, columns);
};

/**
 * A line for a published event: time, lane, command, result, duration. An event of a scheduled job has the name of
 * the job and its subject instead of lane and command. A terminal below 120 columns shows the lane only with the
 * acceptance.
 * @param columns width of the terminal; undefined: one line of any width
 */
export const eventLine = (event: BusEvent, columns?: Columns): string => {
  const detail = detailSchema.safeParse(event.detail);
  // The user may have put an event of another format.
  if (!detail.success) return incomingLine(event, columns);
  const { metadata, data } = detail.data;
  const time = visibleText(metadata.time.slice(11, 23));
  const job = jobLineOf(event["detail-type"], data, metadata.account ?? "-");
  if (job) return jobEventLine(time, job, columns);
  const command = visibleText(metadata.commandId ?? data.requestedCommandId ?? "-");
  const took =
    data.durationMs === undefined ? "" : pc.dim(` ${(data.durationMs / 1000).toFixed(1)} s`);
  const result = happened(event["detail-type"], data) + took;
  // The command id is never cut, because `skyhook status` needs it whole.
  const id = pc.bold(command);
  if (!isNarrow(columns)) {
    const lane = data.lane === undefined ? askerText(event, metadata) : laneText(data.lane);
    return lineOf([pc.dim(time), lane, id], WIDE_WIDTHS, result, columns);
  }
  const asker = data.lane === undefined ? askerText(event, metadata) : "-";
  const where = event["detail-type"] === "CommandAccepted" && data.lane ? wholeLane(data.lane) : "";
  const more = where || (asker === "-" ? "" : asker);
  const text = more === "" ? result : `${result}\n${more}`;
  return lineOf([pc.dim(time.slice(0, 8)), id], NARROW_WIDTHS, text, columns);
};
