import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import type { JsonObject } from "../../platform/ports/ledger.ts";
import { EventForm } from "./event-form.tsx";
import { linkTo, type Route } from "./hooks.ts";
import { Empty, PageHead, Pending, Table, Time } from "./parts.tsx";
import { type EventLog, type EventRow, MAX_ROWS, useEvents } from "./use-events.ts";

const Filters = ({ query }: { query: URLSearchParams }): JSX.Element => {
  const apply = (event: Event): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const values = [...form].map(([name, value]) => [name, String(value).trim()]);
    location.hash = linkTo(["events"], Object.fromEntries(values));
  };
  return (
    <form class="filters" onSubmit={apply} key={query.toString()}>
      <label>
        types
        <input
          name="type"
          value={query.get("type") ?? ""}
          placeholder="Command* TaskFailed"
          autocomplete="off"
          spellcheck={false}
        />
      </label>
      <label>
        command id
        <input
          name="command"
          value={query.get("command") ?? ""}
          autocomplete="off"
          spellcheck={false}
        />
      </label>
      <div class="actions">
        <button type="submit">Filter</button>
        <a class="button quiet" href="#/events">
          Clear
        </a>
      </div>
    </form>
  );
};

const pathOf = (query: URLSearchParams): string => {
  const params = new URLSearchParams({ recent: String(MAX_ROWS) });
  const types = (query.get("type") ?? "").split(/[\s,]+/).filter((type) => type !== "");
  for (const type of types) params.append("type", type);
  const command = query.get("command");
  if (command) params.set("command", command);
  return `/events/stream?${params}`;
};

/** The price, AI task or account that an event of a scheduled job names. */
const subjectOf = ({ event }: EventRow): string | undefined => {
  const { data, metadata } = event?.detail ?? {};
  const named = { ...(metadata as JsonObject | undefined), ...(data as JsonObject | undefined) };
  return [named.name, named.taskId, named.account].find((text) => typeof text === "string");
};

/** The command of an event, or what else it is about. An event of another format names its sender only. */
const About = ({ row }: { row: EventRow }): JSX.Element =>
  row.commandId !== undefined && row.sender !== undefined ? (
    <a class="id" href={linkTo(["commands", row.sender, row.commandId])}>
      {row.commandId}
    </a>
  ) : (
    <span class="muted">
      {subjectOf(row) ?? (row.sender === undefined ? "" : `AWS account ${row.sender}`)}
    </span>
  );

/** What Skyhook published. The content of another sender's event is not in the stream. */
const Content = ({ row }: { row: EventRow }): JSX.Element | null =>
  row.event && Object.keys(row.event.detail).length > 0 ? (
    <details>
      <summary>content</summary>
      <pre>{JSON.stringify(row.event.detail, undefined, 2)}</pre>
    </details>
  ) : null;

const cellsOf = (row: EventRow) => [
  <Time at={row.time} />,
  row.bus === "default" ? `${row.type} (default bus)` : row.type,
  <About row={row} />,
  row.operation,
  <Content row={row} />,
];

const stateText = ({ state, missed }: EventLog, isPaused: boolean): string => {
  const gap =
    missed === undefined
      ? ""
      : ` ${missed === "unknown" ? "Events may have been missed." : `${missed} events were missed.`}`;
  if (isPaused) return `Paused.${gap}`;
  const states = {
    connecting: "Connecting …",
    open: "Live.",
    lost: "Connection lost. The page tries again.",
    refused: "Skyhook refuses the stream. Reload the page to see why.",
  };
  return `${states[state]}${gap}`;
};

/** Events as they come, and a form for one by hand. */
export const EventsPage = (props: { route: Route; session: Session }): JSX.Element => {
  const { route, session } = props;
  const [isPaused, setPaused] = useState(false);
  const log = useEvents(pathOf(route.query), isPaused);
  const isFiltered = [...route.query].length > 0;
  return (
    <>
      <PageHead title="Events">
        <button type="button" class="quiet" onClick={() => setPaused(!isPaused)}>
          {isPaused ? "Continue" : "Pause"}
        </button>
      </PageHead>
      {session.kind === "stage" && (
        <p class="note">
          EventBridge has no live read. This page shows what commands record, read every 5 s while
          it is visible; events of scheduled jobs are missing.
        </p>
      )}
      {session.features.includes("put") && session.allowsChanges && <EventForm />}
      <Filters query={route.query} />
      <p class="muted" role="status">
        {stateText(log, isPaused)} The page keeps the newest {MAX_ROWS}.
      </p>
      {log.rows.length === 0 && log.state === "connecting" && !isPaused ? (
        <Pending error={undefined} />
      ) : log.rows.length === 0 ? (
        <Empty>
          {isFiltered
            ? "No event matches the filters yet."
            : "No events yet. Send a command, or put an event by hand."}
        </Empty>
      ) : (
        <Table
          label="Events"
          heads={["time", "type", "about", "operation", "content"]}
          rows={log.rows.map((row) => ({ key: row.cursor + row.id, cells: cellsOf(row) }))}
        />
      )}
    </>
  );
};
