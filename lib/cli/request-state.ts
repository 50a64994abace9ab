import pc from "picocolors";
import * as z from "zod";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { problemLines, visibleText } from "./render.ts";

const taskSchema = z.looseObject({
  id: z.string(),
  end: z.looseObject({ kind: z.string(), message: z.string().optional() }).optional(),
});

const attemptSchema = z.looseObject({
  number: z.int(),
  startedAt: z.string(),
  endedAt: z.string().optional(),
  disposition: z.string().optional(),
  code: z.string().optional(),
  status: z.int().optional(),
  message: z.string().optional(),
});

const waitsForSchema = z.discriminatedUnion("for", [
  z.looseObject({
    for: z.literal("lane"),
    ahead: z.int(),
    holder: z.object({ sender: z.string(), commandId: z.string() }).optional(),
  }),
  z.looseObject({ for: z.literal("others"), commandIds: z.array(z.string()) }),
  z.looseObject({ for: z.literal("reply"), until: z.string() }),
  z.looseObject({
    for: z.literal("next-attempt"),
    until: z.string(),
    because: z.string().optional(),
  }),
  z.looseObject({
    for: z.literal("tasks"),
    taskIds: z.array(z.string()),
    unknown: z
      .array(z.object({ taskId: z.string(), since: z.string(), until: z.string() }))
      .optional(),
  }),
]);

const rejectionSchema = z.looseObject({
  commandId: z.string().optional(),
  eventId: z.string().optional(),
  operation: z.string(),
  reason: z.string(),
  problems: z.array(z.object({ path: z.string(), rule: z.string() })),
  // A rejection that is known from its event only has none of these.
  problemCount: z.int().optional(),
  rejectedAt: z.string().optional(),
});

const viewSchema = z.looseObject({
  commandId: z.string(),
  operation: z.string(),
  status: z.string(),
  lane: z.string(),
  attempts: z.int(),
  lostReplies: z.int().optional(),
  lastError: z.string().optional(),
  outcome: z.string().optional(),
  reason: z.string().optional(),
  problems: z.array(z.object({ path: z.string(), rule: z.string() })).optional(),
  after: z.array(z.string()).optional(),
  wouldSend: z
    .object({ method: z.string(), path: z.string(), body: z.json().optional() })
    .optional(),
  tag: z.object({ key: z.string(), value: z.string() }).nullable().optional(),
  taskIds: z.array(z.string()),
  createdResources: z.record(z.string(), z.array(z.union([z.string(), z.int()]))).optional(),
  acceptedAt: z.string(),
  endedAt: z.string().optional(),
  deadline: z.string(),
  // An earlier version of Skyhook sends none of these.
  tasks: z.array(taskSchema).optional(),
  sender: z.string().optional(),
  history: z.array(attemptSchema).optional(),
  waitsFor: waitsForSchema.optional(),
  account: z.string().optional(),
  accountPausedUntil: z.string().optional(),
  isUncertain: z.boolean().optional(),
  cancelRequestedAt: z.string().optional(),
  resolution: z
    .object({ applied: z.boolean(), resolvedAt: z.string(), note: z.string().optional() })
    .optional(),
  personCan: z.array(z.string()).optional(),
  rejections: z.array(rejectionSchema).optional(),
});

/** What became of a request that was sent. */
export const requestStateSchema = z.discriminatedUnion("kind", [
  viewSchema.extend({ kind: z.literal("command") }),
  rejectionSchema.extend({
    kind: z.literal("rejected"),
    rejections: z.array(rejectionSchema).optional(),
  }),
]);

export type RequestState = z.output<typeof requestStateSchema>;
export type RejectionState = z.output<typeof rejectionSchema>;
export type CommandState = Extract<RequestState, { kind: "command" }>;

/** The exit status that a state of a request stands for; a command that goes on is no failure. */
export const exitCodeOf = (state: RequestState): ExitCode => {
  if (state.kind === "rejected") return EXIT.refused;
  return state.status === "failed" || state.status === "cancelled" ? EXIT.failed : EXIT.ok;
};

/** How something ended: `failed (refused)`. */
export const endText = (end: {
  readonly status: string;
  readonly reason?: string | undefined;
}): string => (end.reason === undefined ? end.status : `${end.status} (${end.reason})`);

const seconds = (from: string, to: string): string =>
  `${((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1)} s`;

const OUTCOMES = new Map([
  ["no-op", "nothing to do"],
  ["dry-run", "a dry run: nothing was sent"],
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

/** Why a command has not ended, in words for an operator. */
const TROUBLE: Readonly<Record<string, string>> = {
  "key-refused": "the provider refuses the API key",
  "key-unavailable": "the API key cannot be read where the account says it is",
  "budget-spent": "the account's rate limit is used up",
  paused: "the provider has asked for a pause",
};

const troubleOf = (code: string): string => TROUBLE[code] ?? code;

/** What keeps a command that goes on, or undefined when nothing is known. */
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
    `  goes on until ${state.deadline} at the latest`,
  ];
};

const TASK_ENDS: Readonly<Record<string, string>> = { unknown: "is not known at the provider" };

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
  taskIds.map((id) => {
    const end = tasks.find((task) => task.id === id)?.end;
    return end ? `  task ${id} ${TASK_ENDS[end.kind] ?? end.kind}` : `  task ${id}`;
  });

/** The effect of a request without a reply looks the same as the effect of another client's request. */
const lostReplyLines = ({ status, lostReplies = 0, history = [] }: CommandState) => {
  if (status !== "succeeded" || lostReplies === 0) return [];
  return history.at(-1)?.disposition === "permanent"
    ? [
        "  found done after a request without a reply: this command or another client may have done it",
      ]
    : [
        `  ${lostReplies} request${lostReplies === 1 ? "" : "s"} got no reply: the effect may be an earlier request's or another client's`,
      ];
};

/** A request's state in a few lines for people. */
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
