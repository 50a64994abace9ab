import type { JSX } from "preact";
import type { Session } from "../../admin/answers.ts";
import { get, refreshMs } from "./api.ts";
import { linkTo, type Route, useLoaded } from "./hooks.ts";
import { Badge, Empty, PageHead, Table, Time } from "./parts.tsx";
import { ClockTab } from "./provider-clock.tsx";
import { FaultsTab } from "./provider-faults.tsx";
import { type Answer, Answered, kindText, RecordsTab } from "./provider-records.tsx";

const TABS = [
  ["state", "State"],
  ["tasks", "Tasks"],
  ["requests", "Requests"],
  ["faults", "Faults"],
  ["clock", "Clock"],
] as const;

const Tabs = ({ current }: { current: string }): JSX.Element => (
  <ul class="tabs" aria-label="Parts of the provider">
    {TABS.map(([name, label]) => (
      <li key={name}>
        <a href={linkTo(["provider", name])} aria-current={name === current ? "page" : undefined}>
          {label}
        </a>
      </li>
    ))}
  </ul>
);

const StateTab = ({ session }: { session: Session }): JSX.Element => {
  const read = (signal: AbortSignal) => get<Answer<"state">>("/provider", signal);
  const loaded = useLoaded("provider", read, refreshMs(session));
  return (
    <Answered loaded={loaded}>
      {({ baseUrl, kinds }) => (
        <>
          <p class="muted">
            The embedded service at <a href={`${baseUrl}/docs`}>{baseUrl}</a>. It holds its records
            in this run, and knows nothing of Skyhook.
          </p>
          <Table
            label="Kinds of records"
            heads={["kind", "records"]}
            rows={kinds.map(({ kind, count }) => ({
              key: kind,
              cells: [
                <a href={linkTo(["provider", "state", kind])}>{kindText(kind)}</a>,
                String(count),
              ],
            }))}
          />
        </>
      )}
    </Answered>
  );
};

const TASK_TONES: Readonly<Record<string, string>> = {
  NEW: "wait",
  RUNNING: "busy",
  FINISHED: "good",
  ERROR: "bad",
};

const TasksTab = ({ session }: { session: Session }): JSX.Element => {
  const read = (signal: AbortSignal) => get<Answer<"tasks">>("/provider/tasks", signal);
  const loaded = useLoaded("provider-tasks", read, refreshMs(session));
  return (
    <Answered loaded={loaded}>
      {({ count, tasks }) => (
        <>
          <p class="muted">
            {tasks.length < count ? `The newest ${tasks.length} of ${count} tasks.` : ""} A task
            ends by itself after the time that <code>--task-seconds</code> sets.
          </p>
          {tasks.length === 0 ? (
            <Empty>The service has no task yet. An update-container command starts one.</Empty>
          ) : (
            <Table
              label="Tasks of the service"
              heads={["task", "state", "progress", "created", "end", "result"]}
              rows={tasks.map((task) => ({
                key: task.id,
                cells: [
                  <>
                    {task.type}
                    <br />
                    <span class="id muted">{task.id}</span>
                  </>,
                  <Badge text={task.state} tone={TASK_TONES[task.state] ?? "quiet"} />,
                  task.progress !== undefined && (
                    <span class="nowrap">
                      <progress
                        aria-label={`progress of ${task.id}`}
                        max={100}
                        value={task.progress}
                      />{" "}
                      {task.progress} %
                    </span>
                  ),
                  <Time at={task.createdAt} />,
                  (task.finishedAt ?? task.endsAt) && (
                    <Time at={task.finishedAt ?? task.endsAt ?? ""} />
                  ),
                  task.error ??
                    Object.entries(task.createdResources ?? {}).map(([kind, ids]) => (
                      <div key={kind}>
                        created {kind}: <span class="id">{ids?.join(" ")}</span>
                      </div>
                    )),
                ],
              }))}
            />
          )}
        </>
      )}
    </Answered>
  );
};

/** The status of a request's reply, and the fault that struck the request. */
const Outcome = ({ request }: { request: Answer<"requests">[number] }): JSX.Element => {
  const { status, fault } = request;
  return (
    <>
      {status !== undefined && <Badge text={String(status)} tone={status < 400 ? "good" : "bad"} />}{" "}
      {fault !== undefined && <Badge text={`fault: ${fault}`} tone="bad" />}
    </>
  );
};

const RequestsTab = ({ session }: { session: Session }): JSX.Element => {
  const read = (signal: AbortSignal) => get<Answer<"requests">>("/provider/requests", signal);
  const loaded = useLoaded("provider-requests", read, refreshMs(session));
  return (
    <Answered loaded={loaded}>
      {(requests) => (
        <>
          <p class="muted">
            The newest 200 requests to the service, from Skyhook and from every other client. Keys,
            queries and bodies are not kept.
          </p>
          {requests.length === 0 ? (
            <Empty>No request yet. Send a command, and its request appears here.</Empty>
          ) : (
            <Table
              label="Requests to the service"
              heads={["time", "request", "operation", "status", "took", "request id"]}
              rows={requests.map((request) => ({
                key: String(request.number),
                cells: [
                  <Time at={request.time} />,
                  <span class="id">
                    {request.method} {request.path}
                  </span>,
                  <span class="nowrap">{request.operation}</span>,
                  <Outcome request={request} />,
                  <span class="nowrap">{request.durationMs} ms</span>,
                  request.requestId && <span class="id">{request.requestId}</span>,
                ],
              }))}
            />
          )}
        </>
      )}
    </Answered>
  );
};

/** The embedded service: its records, its tasks, the newest requests to it, its faults and its clock. */
export const ProviderPage = (props: { route: Route; session: Session }): JSX.Element => {
  const { route, session } = props;
  const [, tab = "state", kind] = route.path;
  return (
    <>
      <PageHead title="Provider" />
      <Tabs current={tab} />
      {tab === "state" && kind === undefined && <StateTab session={session} />}
      {tab === "state" && kind !== undefined && (
        <RecordsTab kind={kind} route={route} session={session} />
      )}
      {tab === "tasks" && <TasksTab session={session} />}
      {tab === "requests" && <RequestsTab session={session} />}
      {tab === "faults" && <FaultsTab session={session} />}
      {tab === "clock" && <ClockTab session={session} />}
      {!TABS.some(([name]) => name === tab) && (
        <Empty>There is no such part. Choose one above.</Empty>
      )}
    </>
  );
};
