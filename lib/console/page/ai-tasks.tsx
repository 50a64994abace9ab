import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AiTasksView } from "../../admin/ai-tasks-view.ts";
import type { Session } from "../../admin/answers.ts";
import { type ApiError, get, refreshMs, withQuery } from "./api.ts";
import { linkTo, useLoaded } from "./hooks.ts";
import { JobButton } from "./job-button.tsx";
import { Badge, Empty, ErrorNote, Fact, PageHead, Pending, Table, Time } from "./parts.tsx";

type Over = AiTasksView["over"][number];
type Open = AiTasksView["open"][number];

const TONES: Readonly<Record<string, string>> = { SUCCESS: "good", FAILURE: "bad" };

const overCells = ({ taskId, taskName, state, status, at, event }: Over): ComponentChildren[] => [
  <Badge
    key="status"
    text={status ?? state}
    tone={TONES[status ?? ""] ?? (state === "vanished" ? "wait" : "quiet")}
  />,
  taskName,
  <span key="id" class="id">
    {taskId}
  </span>,
  <Time key="at" at={at} />,
  <>
    <a href={linkTo(["events"], { type: event.type })}>{event.type}</a>{" "}
    {event.state === "waiting" && <Badge text="not published yet" tone="wait" />}
    <span class="muted id">{event.id}</span>
  </>,
];

const openCells = ({ taskId, taskName, seenAt, missingSince }: Open): ComponentChildren[] => [
  missingSince === undefined ? (
    <Badge text="followed" tone="busy" />
  ) : (
    <>
      <Badge text="missing" tone="wait" />{" "}
      <span class="reason">
        since <Time at={missingSince} />
      </span>
    </>
  ),
  taskName,
  <span key="id" class="id">
    {taskId}
  </span>,
  seenAt !== undefined && <Time at={seenAt} />,
];

/** Followed tasks that the page shows at first. */
const FIRST_OPEN = 100;

const OpenTasks = ({ open }: Pick<AiTasksView, "open">): JSX.Element => {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? open : open.slice(0, FIRST_OPEN);
  if (open.length === 0) return <Empty>No task runs that the watch has seen.</Empty>;
  return (
    <>
      <Table
        label="Running tasks"
        heads={["state", "method", "task", "first seen"]}
        rows={shown.map((task) => ({ key: task.taskId, cells: openCells(task) }))}
      />
      {shown.length < open.length && (
        <button type="button" class="quiet" onClick={() => setShowsAll(true)}>
          Show all {open.length}
        </button>
      )}
    </>
  );
};

const Watch = ({ view }: { view: AiTasksView }): JSX.Element => {
  const { account, watch } = view;
  return (
    <>
      <dl>
        <Fact name="account">{account}</Fact>
        <Fact name="watched">{watch?.taskName ?? "all methods"}</Fact>
        <Fact name="last read of the whole list">
          {watch?.fullReadAt === undefined ? "not complete yet" : <Time at={watch.fullReadAt} />}
        </Fact>
      </dl>
      {watch?.list?.state === "refused" && (
        <p class="note bad">
          The provider refuses the list of AI tasks to this key since <Time at={watch.list.since} />
          . Each run asks again.
        </p>
      )}
    </>
  );
};

/**
 * The rows of several answers, the newest record first. A row of `fresh` replaces one of `old`. New ends move tasks to
 * later pages, so a row stays when the page that had it is read again without it.
 */
const merged = (old: readonly Over[], fresh: readonly Over[]): readonly Over[] =>
  [...new Map([...old, ...fresh].map((each) => [each.taskId, each])).values()].toSorted(
    (one, other) => other.at.localeCompare(one.at),
  );

/** Running, ended and vanished AI tasks, as the watch has recorded them. */
export const AiTasksPage = ({ session }: { session: Session }): JSX.Element => {
  /** The last older page that was asked for. */
  const [older, setOlder] = useState<AiTasksView>();
  const [kept, setKept] = useState<readonly Over[]>();
  const [moreError, setMoreError] = useState<ApiError>();
  // Not read again by itself on a stage: a page reads each listed task, and a run comes once a minute.
  const isStage = session.kind === "stage";
  const { data, error, reload } = useLoaded(
    "ai-tasks",
    (signal) => get<AiTasksView>("/ai-tasks", signal),
    isStage ? undefined : refreshMs(session),
  );
  useEffect(() => {
    if (data) setKept((old) => old && merged(old, data.over));
  }, [data]);
  const { cursor } = older ?? data ?? {};
  const loadMore = async (): Promise<void> => {
    try {
      const page = await get<AiTasksView>(withQuery("/ai-tasks", { cursor }));
      setKept((old) => merged(page.over, old ?? data?.over ?? []));
      setOlder(page);
      setMoreError(undefined);
    } catch (failure) {
      setMoreError(failure as ApiError);
    }
  };
  const over = kept ?? data?.over ?? [];
  return (
    <>
      <PageHead title="AI tasks">
        {isStage && (
          <button type="button" class="quiet" onClick={reload}>
            Read again
          </button>
        )}
        <JobButton session={session} job="watch-ai-tasks" label="Check now" onEnd={reload}>
          <p>The run reads the provider's list and publishes each new end. It changes no task.</p>
        </JobButton>
      </PageHead>
      <Pending error={error} hasData={data !== undefined} />
      {data && data.watch === null && (
        <Empty>
          No run has watched AI tasks yet. Against a real provider, start Skyhook with{" "}
          <code>--ai-tasks all</code>.
        </Empty>
      )}
      {data && data.watch !== null && (
        <>
          <Watch view={data} />
          <h2>Running</h2>
          <OpenTasks open={data.open} />
          <h2>Ended and vanished</h2>
          {over.length === 0 ? (
            <Empty>
              No end yet. Tasks that ended before the watch began are not published and not listed.
            </Empty>
          ) : (
            <Table
              label="Ended and vanished tasks"
              heads={["status", "method", "task", "recorded", "event"]}
              rows={over.map((task) => ({ key: task.taskId, cells: overCells(task) }))}
            />
          )}
          {moreError && <ErrorNote error={moreError} />}
          {cursor !== undefined && (
            <button type="button" onClick={loadMore}>
              Older tasks
            </button>
          )}
        </>
      )}
    </>
  );
};
