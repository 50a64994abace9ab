import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import type { CommandView, WaitsFor } from "../../admin/command-view.ts";
import { linkTo } from "./hooks.ts";
import { LiveTask } from "./live-task.tsx";
import { Badge, Since, Time } from "./parts.tsx";

/** Attempts that are shown at first: a lock may take hundreds of them. */
const NEWEST_ATTEMPTS = 10;

interface Entry {
  readonly key: string;
  /** Undefined: now. */
  readonly at: string | undefined;
  readonly tone: "good" | "bad" | "busy" | "quiet";
  readonly content: ComponentChildren;
}

type Attempt = CommandView["history"][number];
type Task = CommandView["tasks"][number];

const CommandLink = (props: { sender: string; id: string }): JSX.Element => (
  <a class="id" href={linkTo(["commands", props.sender, props.id])}>
    {props.id}
  </a>
);

const Links = (props: { sender: string; ids: readonly string[] }): JSX.Element => (
  <>
    {props.ids.map((id, index) => (
      <span key={id}>
        {index > 0 && ", "}
        <CommandLink sender={props.sender} id={id} />
      </span>
    ))}
  </>
);

const answerText = ({ disposition, code, status, message }: Attempt): string => {
  if (disposition === undefined) return "in flight";
  if (disposition === "answered") return "answered";
  if (disposition === "lost") return "lost: its process died before the reply";
  return `${disposition}: ${message ?? [status, code].filter(Boolean).join(" ")}`;
};

const attemptEntry = (attempt: Attempt): Entry => {
  const { number, startedAt, endedAt, disposition } = attempt;
  const tone = disposition === undefined ? "busy" : disposition === "answered" ? "good" : "bad";
  return {
    ...{ key: `attempt-${number}`, at: startedAt, tone },
    content: (
      <>
        <strong>Request {number}</strong>{" "}
        {endedAt !== undefined && disposition !== "lost" && (
          <span class="muted">
            took <Since at={startedAt} now={endedAt} />
          </span>
        )}
        <p>{answerText(attempt)}</p>
      </>
    ),
  };
};

const END_TONES: Readonly<Record<string, Entry["tone"]>> = {
  succeeded: "good",
  cancelled: "quiet",
};

const TASK_TONES: Readonly<Record<string, Entry["tone"]>> = { finished: "good", open: "busy" };

const taskEntry = (task: Task, view: CommandView, session: Session): Entry => {
  const { id, end, recorded } = task;
  const status = end?.kind ?? recorded?.status ?? "open";
  const message = end?.message ?? recorded?.message;
  return {
    ...{ key: `task-${id}`, at: recorded?.since, tone: TASK_TONES[status] ?? "bad" },
    content: (
      <>
        <strong>Task</strong> <span class="id">{id}</span> <Badge text={status} />{" "}
        {recorded?.endedAt !== undefined && (
          <span class="muted">
            after <Since at={recorded.since} now={recorded.endedAt} />
          </span>
        )}
        {message !== undefined && <p>{message}</p>}
        {recorded?.missingSince !== undefined && (
          <p>
            The provider has answered 404 since <Time at={recorded.missingSince} />.
            {recorded.givenUpAt !== undefined && (
              <>
                {" "}
                Skyhook gives the task up at <Time at={recorded.givenUpAt} />.
              </>
            )}
          </p>
        )}
        {session.features.includes("task") && <LiveTask account={view.account} id={id} />}
      </>
    ),
  };
};

const waitContent = (waitsFor: WaitsFor, sender: string): ComponentChildren => {
  switch (waitsFor.for) {
    case "lane":
      return (
        <>
          Waits in its lane, {waitsFor.ahead} ahead.
          {waitsFor.holder && (
            <>
              {" "}
              In flight:{" "}
              <CommandLink sender={waitsFor.holder.sender} id={waitsFor.holder.commandId} />
            </>
          )}
        </>
      );
    case "others":
      return (
        <>
          Waits for <Links sender={sender} ids={waitsFor.commandIds} />
        </>
      );
    case "reply":
      return (
        <>
          Waits for a reply, until <Time at={waitsFor.until} /> at the latest.
        </>
      );
    case "next-attempt":
      return (
        <>
          Next request at <Time at={waitsFor.until} />
          {waitsFor.because !== undefined && ` (${waitsFor.because})`}
        </>
      );
    case "tasks":
      return `Waits for ${waitsFor.taskIds.length === 1 ? "its task" : `${waitsFor.taskIds.length} tasks`}.`;
    default:
      return waitsFor satisfies never;
  }
};

const operatorEntries = ({ cancelRequestedAt, resolution }: CommandView): readonly Entry[] => [
  ...(cancelRequestedAt === undefined
    ? []
    : [
        {
          ...{ key: "cancel", at: cancelRequestedAt, tone: "quiet" as const },
          content: <strong>Cancelled by an operator</strong>,
        },
      ]),
  ...(resolution
    ? [
        {
          ...{ key: "resolution", at: resolution.resolvedAt, tone: "quiet" as const },
          content: (
            <>
              <strong>Resolved by an operator</strong>: it{" "}
              {resolution.applied ? "took effect" : "did not take effect"}
              {resolution.note !== undefined && <p>{resolution.note}</p>}
            </>
          ),
        },
      ]
    : []),
];

const endEntry = ({ endedAt, status, reason, outcome, problems = [] }: CommandView): Entry => ({
  ...{ key: "end", at: endedAt, tone: END_TONES[status] ?? "bad" },
  content: (
    <>
      <strong>Ended</strong> <Badge text={status} /> {reason ?? outcome}
      {problems.map(({ path, rule }) => (
        <p key={`${path} ${rule}`}>{path === "" ? rule : `${path}: ${rule}`}</p>
      ))}
    </>
  ),
});

const entriesOf = (view: CommandView, session: Session, attempts: readonly Attempt[]) => {
  const { acceptedAt, after = [], sender, waitsFor, endedAt, tasks } = view;
  const timed: readonly Entry[] = [
    ...attempts.map(attemptEntry),
    ...tasks.map((task) => taskEntry(task, view, session)),
    ...operatorEntries(view),
    ...(endedAt === undefined ? [] : [endEntry(view)]),
  ];
  const accepted: Entry = {
    ...{ key: "accepted", at: acceptedAt, tone: "quiet" },
    content: (
      <>
        <strong>Accepted</strong>
        {after.length > 0 && (
          <>
            , to run after <Links sender={sender} ids={after} />
          </>
        )}
      </>
    ),
  };
  return [
    accepted,
    ...timed.toSorted((a, b) => (a.at ?? "~").localeCompare(b.at ?? "~")),
    ...(waitsFor
      ? [
          {
            ...{ key: "now", at: undefined, tone: "busy" as const },
            content: waitContent(waitsFor, sender),
          },
        ]
      : []),
  ];
};

/** What happened to a command, the oldest first, and what it waits for now. */
export const Timeline = (props: { view: CommandView; session: Session }): JSX.Element => {
  const { view, session } = props;
  const [isWhole, setWhole] = useState(false);
  const { history } = view;
  const attempts = isWhole ? history : history.slice(-NEWEST_ATTEMPTS);
  const hidden = history.length - attempts.length;
  return (
    <section>
      <h2>Timeline</h2>
      {hidden > 0 && (
        <p>
          <button type="button" class="quiet" onClick={() => setWhole(true)}>
            Show {hidden} earlier {hidden === 1 ? "request" : "requests"}
          </button>
        </p>
      )}
      <ol class="timeline">
        {entriesOf(view, session, attempts).map(({ key, at, tone, content }) => (
          <li key={key} class={tone}>
            <span class="when muted">{at === undefined ? "now" : <Time at={at} />}</span>
            <div>{content}</div>
          </li>
        ))}
      </ol>
    </section>
  );
};
