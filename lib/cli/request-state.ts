import pc from "picocolors";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { problemLines, visibleText } from "./render.ts";
import type { CommandState, RequestState } from "./request-schema.ts";

/** The exit status for the state of a request; a command that has not ended is no failure. */
export const exitCodeOf = (state: RequestState): ExitCode => {
  if (state.kind === "rejected") return EXIT.refused;
  return state.status === "failed" || state.status === "cancelled" ? EXIT.failed : EXIT.ok;
};

/** Status and reason of an end: `failed (refused)`. */
export const endText = (end: {
  readonly status: string;
  readonly reason?: string | undefined;
}): string => (end.reason === undefined ? end.status : `${end.status} (${end.reason})`);

const seconds = (from: string, to: string): string =>
  `${((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1)} s`;

const OUTCOMES = new Map([
  ["no-op", "nothing to change"],
  ["dry-run", "dry run, nothing sent"],
]);

const headline = (state: RequestState): string => {
  if (state.kind === "rejected") {
    return `${visibleText(state.operation)} ${pc.yellow("rejected")} (${state.reason})`;
  }
  const { status, outcome, reason, endedAt, acceptedAt } = state;
  const paint = status === "failed" ? pc.red : status === "succeeded" ? pc.green : pc.cyan;
  const why = reason ?? OUTCOMES.get(outcome ?? "");
  return [
    `${state.operation} ${visibleText(state.commandId)} ${paint(status)}`,
    why === undefined ? "" : ` (${why})`,
    endedAt === undefined ? "" : ` after ${seconds(acceptedAt, endedAt)}`,
  ].join("");
};

/** Texts for error codes that delay a command. */
const TROUBLE: Readonly<Record<string, string>> = {
  "key-refused": "the provider refuses the API key",
  "key-unavailable": "the API key cannot be read from the place in accounts.yaml",
  "budget-spent": "the account's rate limit is used up",
  paused: "the provider requested a pause",
};

const troubleOf = (code: string): string => TROUBLE[code] ?? code;

/** The reason why a command has not ended; undefined: unknown. */
export const waitsFor = (state: RequestState | undefined): string | undefined =>
  state?.kind === "command" && state.lastError !== undefined
    ? troubleOf(state.lastError)
    : undefined;

const progressLines = (state: CommandState): readonly string[] => {
  if (state.endedAt !== undefined) return [];
  const trouble = waitsFor(state);
  const { status, after = [] } = state;
  return [
    ...(status === "waiting" && after.length > 0 ? [`  after ${after.join(", ")}`] : []),
    ...(trouble === undefined ? [] : [`  last attempt: ${trouble}`]),
    `  deadline ${state.deadline}`,
  ];
};

type TaskState = NonNullable<CommandState["tasks"]>[number];

/** An instant without its milliseconds. */
export const toTheSecond = (instant: string): string => instant.replace(/\.\d+Z$/, "Z");

/** The state of a task by its record, or by the end that its command knows. */
const taskText = ({ end, recorded }: TaskState): string => {
  const status = end?.kind ?? recorded?.status;
  if (status === undefined) return "";
  if (status === "unknown") return " is unknown to the provider";
  if (!recorded) return ` ${status}`;
  const { since, endedAt } = recorded;
  if (status === "abandoned") return ` abandoned at ${toTheSecond(endedAt ?? since)}`;
  return endedAt === undefined
    ? ` ${status} since ${toTheSecond(since)}`
    : ` ${status} after ${seconds(since, endedAt)}`;
};

const tagText = (tag: CommandState["tag"]): string =>
  tag ? `${tag.key} is ${JSON.stringify(tag.value)}` : "none";

const wouldSendLines = ({ wouldSend }: CommandState): readonly string[] => {
  if (!wouldSend) return [];
  const { method, path, body } = wouldSend;
  return [
    `  would send ${method} ${path}`,
    ...(body === undefined ? [] : [`  ${JSON.stringify(body)}`]),
  ];
};

const taskLines = ({ taskIds, tasks = [] }: CommandState): readonly string[] =>
  taskIds.map((id) => `  task ${id}${taskText(tasks.find((task) => task.id === id) ?? { id })}`);

/** A note on a lost reply: an effect may come from the lost request or from another client. */
const lostReplyLines = ({ status, lostReplies = 0, history = [] }: CommandState) => {
  if (status !== "succeeded" || lostReplies === 0) return [];
  return history.at(-1)?.disposition === "permanent"
    ? ["  the change was found after a lost reply: this command or another client made it"]
    : [
        `  ${lostReplies} request${lostReplies === 1 ? "" : "s"} got no reply: an earlier request or another client may have made the change`,
      ];
};

/** The state of a request in a few lines. */
export const stateText = (state: RequestState): string => {
  const details =
    state.kind === "rejected"
      ? []
      : [
          `  lane ${state.lane}, ${state.attempts} request${state.attempts === 1 ? "" : "s"} sent`,
          ...lostReplyLines(state),
          ...taskLines(state),
          ...Object.entries(state.createdResources ?? {}).map(
            ([kind, ids]) => `  created ${kind}: ${ids.join(" ")}`,
          ),
          ...(state.tag === undefined ? [] : [`  tag seen: ${tagText(state.tag)}`]),
          ...wouldSendLines(state),
          ...progressLines(state),
        ];
  const problems = problemLines(state.problems ?? []);
  return [headline(state), ...details.map(visibleText), ...problems].join("\n");
};
