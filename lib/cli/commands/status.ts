import type { Clock } from "../../platform/ports/clock.ts";
import {
  type CommandFlags,
  openCommandAdmin,
  sameTargetFlags,
  withCommandOptions,
} from "../admin/client.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import {
  jsonLine,
  printResult,
  problemLines,
  shellWord,
  tableText,
  visibleText,
} from "../render.ts";
import {
  type CommandState,
  exitCodeOf,
  type RejectionState,
  type RequestState,
  stateText,
} from "../request-state.ts";
import { addExamples, type DeclareVerb, ending, stageRights } from "../verb.ts";

/** More attempts than these are for `--json`. */
const MAX_ATTEMPTS_SHOWN = 20;

type History = NonNullable<CommandState["history"]>;

const cameBack = ({ disposition, code, status, message }: History[number]): string => {
  if (disposition === undefined) return "on its way";
  if (disposition === "answered") return "answered";
  if (disposition === "lost") return "lost: its sender died, and nobody has its answer";
  const said = message ?? [status, code].filter((part) => part !== undefined).join(" ");
  return visibleText(`${disposition}: ${said}`);
};

const tookText = ({ startedAt, endedAt, disposition }: History[number]): string =>
  endedAt === undefined || disposition === "lost"
    ? "-"
    : `${((Date.parse(endedAt) - Date.parse(startedAt)) / 1000).toFixed(1)} s`;

const historyLines = (history: History): readonly string[] => {
  if (history.length === 0) return [];
  const shown = history.slice(-MAX_ATTEMPTS_SHOWN);
  const earlier = history.length - shown.length;
  const rows = shown.map((attempt) => [
    String(attempt.number),
    attempt.startedAt,
    tookText(attempt),
    cameBack(attempt),
  ]);
  const table = tableText(["attempt", "sent", "took", "came back"], rows).split("\n");
  return [
    ...table.map((line) => `  ${line}`),
    ...(earlier > 0 ? [`  and ${earlier} earlier, all in --json`] : []),
  ];
};

const holderText = (holder: { readonly sender: string; readonly commandId: string } | undefined) =>
  holder ? `; at work there: ${holder.commandId} of ${holder.sender}` : "";

const waitsForLines = ({ waitsFor }: CommandState): readonly string[] => {
  switch (waitsFor?.for) {
    case undefined:
      return [];
    case "lane":
      return [`  waits in its lane behind ${waitsFor.ahead}${holderText(waitsFor.holder)}`];
    case "others":
      return [`  waits for ${waitsFor.commandIds.join(", ")}`];
    case "reply":
      return [`  waits for a reply, until ${waitsFor.until} at the latest`];
    case "next-attempt":
      return [`  waits for its next attempt at ${waitsFor.until}`];
    case "tasks":
      return [
        `  waits for ${waitsFor.taskIds.join(", ")}`,
        ...(waitsFor.unknown ?? []).map(
          ({ taskId, since, until }) =>
            `  the provider has not known task ${taskId} since ${since}; given up at ${until}`,
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
        `  account ${account} sends nothing until ${accountPausedUntil}: the provider asked for a pause`,
        `  to send all the same: npx skyhook lift-pause ${shellWord(account)}${placeFlags}`,
      ];

const personLines = ({ cancelRequestedAt, resolution }: CommandState): readonly string[] => [
  ...(cancelRequestedAt === undefined ? [] : [`  stopped by a person at ${cancelRequestedAt}`]),
  ...(resolution
    ? [
        `  a person found at ${resolution.resolvedAt}: it ${resolution.applied ? "took effect" : "did not take effect"}${resolution.note === undefined ? "" : ` (${resolution.note})`}`,
      ]
    : []),
];

const nextText = (act: string, state: CommandState, flags: string): string => {
  const id = shellWord(state.commandId);
  switch (act) {
    case "cancel":
      return `npx skyhook cancel ${id}${flags}`;
    case "resolve":
      return `look at the provider, then npx skyhook resolve ${id} --applied | --not-applied${flags}`;
    case "follow-task": {
      const open = (state.tasks ?? []).filter(({ end }) => !end).map((task) => task.id);
      return `follow what is still at work, by follow-task: ${open.join(", ")}`;
    }
    case "check-task-id":
      return "check the task's id, and that this sender may see its project; then follow it again under a new command id";
    case "check-effect":
      return "look at the provider, and send it again, under a new id, only if it did not take effect";
    case "send-again":
      return "once the cause is gone, send it again under a new id";
    default:
      return act;
  }
};

const moreProblems = ({ problems, problemCount = 0 }: RejectionState): readonly string[] =>
  problemCount > problems.length
    ? [`and ${problemCount - problems.length} more; the event CommandRejected has all of them`]
    : [];

/** Which request it was that was rejected. */
const rejectedLine = ({ commandId, eventId, rejectedAt }: RejectionState): string =>
  [
    ...(rejectedAt === undefined ? [] : [`at ${rejectedAt}`]),
    ...(commandId === undefined ? [] : [`command ${commandId}`]),
    ...(eventId === undefined ? [] : [`event ${eventId}`]),
  ].join(", ");

/** Requests under the id of another command, or under one id again. */
const rejectionLines = ({ rejections = [] }: RequestState): readonly string[] =>
  rejections.flatMap((rejection) => {
    const { rejectedAt, reason, eventId } = rejection;
    const event = eventId === undefined ? "" : `, event ${eventId}`;
    return [
      `  another request under this id was rejected at ${rejectedAt} (${reason})${event}`,
      ...problemLines(rejection.problems).map((line) => `  ${line}`),
      ...moreProblems(rejection).map((line) => `    ${line}`),
    ];
  });

const rejectionText = (state: Extract<RequestState, { kind: "rejected" }>): string => {
  const lines = [
    ...moreProblems(state).map((line) => `  ${line}`),
    `  ${rejectedLine(state)}`,
    ...rejectionLines(state),
  ];
  return [stateText(state), ...lines.map(visibleText)].join("\n");
};

/**
 * Everything that is known of a request, for people.
 * @param flags that lead to the same command, ready to be typed behind others
 * @param placeFlags the same without the sender: that lead to the same Skyhook
 */
export const reportText = (state: RequestState, flags: string, placeFlags = flags): string => {
  if (state.kind === "rejected") return rejectionText(state);
  const { acceptedAt, endedAt, history = [], personCan = [] } = state;
  const ended = endedAt === undefined ? "" : `, ended ${endedAt}`;
  const lines = [
    `  accepted ${acceptedAt}${ended}`,
    ...personLines(state),
    ...waitsForLines(state),
    ...pauseLines(state, placeFlags),
    ...historyLines(history),
    ...rejectionLines(state),
    ...personCan.map((act) => `  next: ${nextText(act, state, flags)}`),
  ];
  return [stateText(state), ...lines.map(visibleText)].join("\n");
};

/** Prints the state of a command and its history. @throws ExitError for an unknown command */
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
      `no command ${commandId} here, and no rejection in the last 30 days: never sent, or still queued`,
    );
  }
  const { sender: _, ...place } = flags;
  const text = () => reportText(state, sameTargetFlags(flags), sameTargetFlags(place));
  printResult(flags.json ? jsonLine(state) : text());
  return exitCodeOf(state);
};

const DESCRIPTION = `Shows a command's state, every request that it sent, what it waits for, and the next steps for an operator.

Secrets of the request are never shown. --json prints every request; otherwise the newest ${MAX_ATTEMPTS_SHOWN} are listed. Skyhook keeps them for 60 days after the deadline. While the provider answers 404 for a task, status shows since when, and when Skyhook gives the task up.

A rejected request never became a command. status shows its problems for 30 days, by the id of its command or of its event. Skyhook keeps the newest five rejections of an id, and at most 100 of a sender in an hour.

${stageRights("dynamodb:GetItem on the table skyhook-STAGE-ledger, and dynamodb:DescribeTable unless --sender is given")}`;

export const declareStatus: DeclareVerb = (command, { clock }) => {
  addExamples(withCommandOptions(command.description(DESCRIPTION)), [
    "npx skyhook status scale-1",
    "npx skyhook status scale-1 --json",
    "npx skyhook status scale-1 --stage prod --sender 111122223333",
  ]).action(ending((id: string, flags: CommandFlags) => showStatus(id, flags, clock)));
};
