import type { Clock } from "../../platform/ports/clock.ts";
import { type CommandFlags, openCommandAdmin, withCommandOptions } from "../admin/client.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import type { Columns } from "../layout.ts";
import {
  jsonLine,
  printResult,
  problemLines,
  shellWord,
  tableText,
  visibleText,
} from "../render.ts";
import type { CommandState, RejectionState, RequestState } from "../request-schema.ts";
import { exitCodeOf, stateText, toTheSecond } from "../request-state.ts";
import { addExamples, type DeclareVerb, ending, sameTargetFlags, stageRights } from "../verb.ts";

/** Only `--json` shows earlier attempts. */
const MAX_ATTEMPTS_SHOWN = 20;

type History = NonNullable<CommandState["history"]>;

const resultText = ({ disposition, code, status, message }: History[number]): string => {
  if (disposition === undefined) return "in flight";
  if (disposition === "answered") return "answered";
  if (disposition === "lost") return "lost: its process died before the reply";
  const said = message ?? [status, code].filter((part) => part !== undefined).join(" ");
  return visibleText(`${disposition}: ${said}`);
};

const tookText = ({ startedAt, endedAt, disposition }: History[number]): string =>
  endedAt === undefined || disposition === "lost"
    ? "-"
    : `${((Date.parse(endedAt) - Date.parse(startedAt)) / 1000).toFixed(1)} s`;

const historyLines = (history: History, columns: Columns): readonly string[] => {
  if (history.length === 0) return [];
  const shown = history.slice(-MAX_ATTEMPTS_SHOWN);
  const earlier = history.length - shown.length;
  const rows = shown.map((attempt) => [
    String(attempt.number),
    attempt.startedAt,
    tookText(attempt),
    resultText(attempt),
  ]);
  const heads = ["attempt", "sent", "duration", "result"];
  const table = tableText(heads, rows, columns && columns - 2).split("\n");
  return [
    ...table.map((line) => `  ${line}`),
    ...(earlier > 0 ? [`  and ${earlier} earlier; --json lists all`] : []),
  ];
};

type Events = NonNullable<CommandState["events"]>;

const eventLines = (events: Events, columns: Columns): readonly string[] => {
  if (events.length === 0) return [];
  const rows = events.map(({ type, time, id }) => [type, toTheSecond(time), id]);
  const table = tableText(["event", "time", "id"], rows, columns && columns - 2).split("\n");
  const waiting = events.filter(({ state }) => state === "waiting").map(({ type }) => type);
  return [
    ...table.map((line) => `  ${line}`),
    ...(waiting.length > 0 ? [`  waits to be published: ${waiting.join(", ")}`] : []),
  ];
};

const holderText = (holder: { readonly sender: string; readonly commandId: string } | undefined) =>
  holder ? `; in flight: ${holder.commandId} of ${holder.sender}` : "";

const waitsForLines = ({ waitsFor }: CommandState): readonly string[] => {
  switch (waitsFor?.for) {
    case undefined:
      return [];
    case "lane":
      return [`  waits in its lane, ${waitsFor.ahead} ahead${holderText(waitsFor.holder)}`];
    case "others":
      return [`  waits for the commands ${waitsFor.commandIds.join(", ")}`];
    case "reply":
      return [`  waits for a reply, until ${waitsFor.until} at the latest`];
    case "next-attempt":
      return [`  next attempt at ${waitsFor.until}`];
    case "tasks":
      return [
        `  waits for the tasks ${waitsFor.taskIds.join(", ")}`,
        ...(waitsFor.unknown ?? []).map(
          ({ taskId, since, until }) =>
            `  task ${taskId} unknown to the provider since ${since}; given up at ${until}`,
        ),
      ];
    default:
      return waitsFor satisfies never;
  }
};

const pauseLines = (
  { account = "", accountPausedUntil }: CommandState,
  placeFlags: string,
): readonly string[] =>
  accountPausedUntil === undefined
    ? []
    : [
        `  account ${account} paused by the provider until ${accountPausedUntil}`,
        `  to end the pause: npx skyhook lift-pause ${shellWord(account)}${placeFlags}`,
      ];

const operatorLines = ({ cancelRequestedAt, resolution }: CommandState): readonly string[] => [
  ...(cancelRequestedAt === undefined
    ? []
    : [`  cancelled by an operator at ${cancelRequestedAt}`]),
  ...(resolution
    ? [
        `  resolved by an operator at ${resolution.resolvedAt}: it ${resolution.applied ? "took effect" : "did not take effect"}${resolution.note === undefined ? "" : ` (${resolution.note})`}`,
      ]
    : []),
];

const nextText = (act: string, state: CommandState, flags: string): string => {
  const id = shellWord(state.commandId);
  switch (act) {
    case "cancel":
      return `npx skyhook cancel ${id}${flags}`;
    case "resolve":
      return `check the effect at the provider, then npx skyhook resolve ${id} --applied | --not-applied${flags}`;
    case "follow-task": {
      const open = (state.tasks ?? []).filter(({ end }) => !end).map((task) => task.id);
      return `follow the open tasks: npx skyhook send follow-task, for ${open.join(", ")}`;
    }
    case "check-task-id":
      return "check the task id, and that the sender may see its project; then follow it under a new command id";
    case "check-effect":
      return "check the effect at the provider; only without effect, send the command again under a new id";
    case "send-again":
      return "remove the cause, then send the command again under a new id";
    default:
      return act;
  }
};

const moreProblems = ({ problems, problemCount = 0 }: RejectionState): readonly string[] =>
  problemCount > problems.length
    ? [`and ${problemCount - problems.length} more; the event CommandRejected lists all`]
    : [];

/** Time and ids of a rejected request. */
const rejectedLine = ({ commandId, eventId, rejectedAt }: RejectionState): string =>
  [
    ...(rejectedAt === undefined ? [] : [`at ${rejectedAt}`]),
    ...(commandId === undefined ? [] : [`command ${commandId}`]),
    ...(eventId === undefined ? [] : [`event ${eventId}`]),
  ].join(", ");

/** Rejected requests with the id of another request. */
const rejectionLines = ({ rejections = [] }: RequestState): readonly string[] =>
  rejections.flatMap((rejection) => {
    const { rejectedAt, reason, eventId } = rejection;
    const event = eventId === undefined ? "" : `, event ${eventId}`;
    return [
      `  another request with this id was rejected at ${rejectedAt} (${reason})${event}`,
      ...problemLines(rejection.problems).map((line) => `  ${line}`),
      ...moreProblems(rejection).map((line) => `    ${line}`),
    ];
  });

const rejectionText = (
  state: Extract<RequestState, { kind: "rejected" }>,
  columns: Columns,
): string => {
  const lines = [
    ...moreProblems(state).map((line) => `  ${line}`),
    `  ${rejectedLine(state)}`,
    ...eventLines(state.events ?? [], columns),
    ...rejectionLines(state),
  ];
  return [stateText(state), ...lines.map(visibleText)].join("\n");
};

/**
 * The whole state of a request in lines.
 * @param flags options that lead the next call to the same command
 * @param placeFlags options that lead it to the same Skyhook, without a sender
 */
export const reportText = (
  state: RequestState,
  flags: string,
  placeFlags = flags,
  columns?: Columns,
): string => {
  if (state.kind === "rejected") return rejectionText(state, columns);
  const { acceptedAt, endedAt, history = [], events = [], personCan = [] } = state;
  const ended = endedAt === undefined ? "" : `, ended ${endedAt}`;
  const lines = [
    `  accepted ${acceptedAt}${ended}`,
    ...operatorLines(state),
    ...waitsForLines(state),
    ...pauseLines(state, placeFlags),
    ...historyLines(history, columns),
    ...eventLines(events, columns),
    ...rejectionLines(state),
    ...personCan.map((act) => `  next: ${nextText(act, state, flags)}`),
  ];
  return [stateText(state), ...lines.map(visibleText)].join("\n");
};

/** Prints a command with its history. @throws ExitError for an unknown command */
export const showStatus = async (
  commandId: string,
  flags: CommandFlags,
  clock: Clock,
): Promise<ExitCode> => {
  const admin = await openCommandAdmin(flags, clock);
  const state = await admin.look(commandId);
  if (!state) {
    throw new ExitError(
      EXIT.refused,
      `no command ${visibleText(commandId)} found, and no rejection in the last 30 days: it was never sent, or is still queued; check the id and --sender`,
    );
  }
  const { sender: _, ...place } = flags;
  const text = (columns: Columns) =>
    reportText(state, sameTargetFlags(flags), sameTargetFlags(place), columns);
  printResult(flags.json ? jsonLine(state) : text);
  return exitCodeOf(state);
};

const DESCRIPTION = `Shows a command's state, its tasks, every request that it sent, its events, what it waits for, and the next steps for an operator.

The newest ${MAX_ATTEMPTS_SHOWN} requests are listed; --json prints all, and the command itself with its secrets redacted, until its end erases it. Ids and times of events follow from the ledger, which keeps a command for 60 days after its end. While the provider answers 404 for a task, status shows since when, and when Skyhook gives the task up.

A rejected request never became a command. status shows its problems for 30 days, by the id of its command or of its event. Skyhook keeps five rejections of an id, the listed one and the newest, and at most 100 of a sender in an hour.

${stageRights("dynamodb:GetItem on the table skyhook-STAGE-ledger, and dynamodb:DescribeTable unless --sender is given")}`;

export const declareStatus: DeclareVerb = (command, { clock }) => {
  addExamples(withCommandOptions(command.description(DESCRIPTION)), [
    "npx skyhook status scale-1",
    "npx skyhook status scale-1 --json",
    "npx skyhook status scale-1 --stage prod --sender 111122223333",
  ]).action(ending((id: string, flags: CommandFlags) => showStatus(id, flags, clock)));
};
