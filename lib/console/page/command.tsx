import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RequestState } from "../../admin/admin.ts";
import type { Session } from "../../admin/answers.ts";
import type { CommandView, RejectionView } from "../../admin/command-view.ts";
import type { DerivedEvent } from "../../admin/derived-events.ts";
import { get, refreshMs, withQuery } from "./api.ts";
import { CommandActions } from "./command-actions.tsx";
import { type Route, useLoaded, useNews } from "./hooks.ts";
import { LostMessage } from "./lost-message.tsx";
import { Badge, Empty, ErrorNote, Fact, PageHead, Pending, Table, Time } from "./parts.tsx";
import { Timeline } from "./timeline.tsx";

const Events = ({ events }: { events: readonly DerivedEvent[] }): JSX.Element => (
  <section>
    <h2>Events</h2>
    {events.length === 0 ? (
      <p class="muted">None that the ledger knows.</p>
    ) : (
      <Table
        label="Events"
        heads={["type", "time", "id", "state"]}
        rows={events.map(({ type, id, time, state }) => ({
          key: id,
          cells: [
            type,
            <Time at={time} />,
            <span class="id">{id}</span>,
            <Badge text={state === "waiting" ? "waits to be published" : state} />,
          ],
        }))}
      />
    )}
  </section>
);

const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);

const Request = ({ view }: { view: CommandView }): JSX.Element => {
  const { request, params, guards } = view;
  const { body, query = {} } = request.state === "kept" ? request : { body: undefined };
  const parts = Object.entries({ params, query, body, guards: guards ?? [] });
  const shown = parts.filter(([, part]) => part && Object.keys(part).length > 0);
  return (
    <section>
      <h2>Request</h2>
      <p class="muted">
        {request.state === "kept"
          ? "Secrets are redacted. The end of the command erases the request."
          : "The end of the command erased its request, because it may hold secrets. The record keeps path parameters and guards."}
      </p>
      {shown.length > 0 && <pre>{jsonText(Object.fromEntries(shown))}</pre>}
    </section>
  );
};

const Rejections = ({ rejections }: { rejections: readonly RejectionView[] }): JSX.Element => (
  <section>
    <h2>Other requests with this id</h2>
    <Table
      label="Other requests with this id"
      heads={["rejected", "reason", "problems", "event"]}
      rows={rejections.map(({ rejectedAt, reason, problems, eventId }) => ({
        key: `${eventId} ${rejectedAt} ${reason}`,
        cells: [
          <Time at={rejectedAt} />,
          reason,
          problems.map(({ path, rule }) => `${path}: ${rule}`).join("; "),
          <span class="id">{eventId}</span>,
        ],
      }))}
    />
  </section>
);

const CommandFacts = ({ view }: { view: CommandView }): JSX.Element => (
  <dl>
    <Fact name="status">
      <Badge text={view.status} /> {view.reason ?? view.outcome}
    </Fact>
    <Fact name="operation">{view.operation}</Fact>
    <Fact name="account">{view.account}</Fact>
    <Fact name="lane">
      <span class="id">{view.lane}</span>
    </Fact>
    <Fact name="sender">{view.sender}</Fact>
    {view.endedAt === undefined && (
      <Fact name="deadline">
        <Time at={view.deadline} />
      </Fact>
    )}
    {view.accountPausedUntil !== undefined && (
      <Fact name="account paused until">
        <Time at={view.accountPausedUntil} />
      </Fact>
    )}
    {view.dryRun && <Fact name="dry run">sends nothing</Fact>}
    {Object.entries(view.createdResources ?? {}).map(([kind, ids]) => (
      <Fact key={kind} name={`created ${kind}`}>
        <span class="id">{String(ids)}</span>
      </Fact>
    ))}
  </dl>
);

const Rejected = ({ state }: { state: RequestState & { kind: "rejected" } }): JSX.Element => (
  <>
    <dl>
      <Fact name="status">
        <Badge text="rejected" /> {state.reason}
      </Fact>
      <Fact name="operation">{state.operation}</Fact>
      {"rejectedAt" in state && (
        <Fact name="rejected">
          <Time at={state.rejectedAt} />
        </Fact>
      )}
    </dl>
    <h2>Problems</h2>
    <ul>
      {state.problems.map(({ path, rule }) => (
        <li key={`${path} ${rule}`}>{path === "" ? rule : `${path}: ${rule}`}</li>
      ))}
    </ul>
    {"events" in state && <Events events={state.events} />}
  </>
);

const Command = (props: {
  view: CommandView;
  session: Session;
  onChange: () => void;
}): JSX.Element => {
  const { view, session, onChange } = props;
  return (
    <>
      <CommandFacts view={view} />
      <CommandActions view={view} session={session} onChange={onChange} />
      <Timeline view={view} session={session} />
      <Events events={view.events} />
      {view.wouldSend && (
        <section>
          <h2>Would have sent</h2>
          <pre>{jsonText(view.wouldSend)}</pre>
        </section>
      )}
      <Request view={view} />
    </>
  );
};

/** Whether nothing of the state changes by itself any more. */
const isFinal = (state: RequestState | undefined): boolean =>
  state?.kind === "rejected" ||
  (state?.endedAt !== undefined && state.events.every((event) => event.state === "published"));

/** One command or rejected request: what happened, what was published, and what an operator can do. */
export const CommandPage = (props: { route: Route; session: Session }): JSX.Element => {
  const { route, session } = props;
  const [, first = "", second] = route.path;
  // A short link, typed by hand, names one of Skyhook's own commands.
  const [sender, id] = second === undefined ? [session.sender, first] : [first, second];
  const path = withQuery(`/commands/${encodeURIComponent(id)}`, { sender });
  const [final, setFinal] = useState<string>();
  const everyMs = final === path ? undefined : refreshMs(session);
  const { data, error, reload } = useLoaded(
    path,
    (signal) => get<RequestState>(path, signal),
    everyMs,
  );
  useNews(session, reload);
  useEffect(() => {
    setFinal(isFinal(data) ? path : undefined);
  }, [data, path]);
  const isUnknown = error?.status === 404;
  return (
    <>
      <PageHead title={id} />
      {data && error && <ErrorNote error={error} />}
      {!data && !isUnknown && <Pending error={error} />}
      {!data && isUnknown && (
        <Empty>
          No command and no rejection has this id: it was never sent, is still in the queue, or has
          expired. <a href="#/commands">All commands</a>
        </Empty>
      )}
      {data?.kind === "command" && <Command view={data} session={session} onChange={reload} />}
      {data?.kind === "rejected" && <Rejected state={data} />}
      {data && "rejections" in data && data.rejections && (
        <Rejections rejections={data.rejections} />
      )}
      {(isUnknown || (data?.kind === "command" && data.endedAt === undefined)) && (
        <LostMessage sender={sender} commandId={id} session={session} onChange={reload} />
      )}
    </>
  );
};
