import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import type { ListPage, ListRow } from "../../admin/list-query.ts";
import { get, refreshMs, withQuery } from "./api.ts";
import { BulkCancel } from "./bulk-cancel.tsx";
import { CommandFilters } from "./command-filters.tsx";
import { linkTo, type Route, useLoaded, useNews } from "./hooks.ts";
import { Badge, Empty, PageHead, Pending, Table, Time } from "./parts.tsx";

const FIRST_ROWS = 50;
/** The most rows that one answer has. They are read again and again, so that all of them are live. */
const MAX_ROWS = 500;

/** One cell for each head of the table. */
const cellsOf = (row: ListRow, own: string): readonly ComponentChildren[] => [
  <>
    <Badge text={row.status} />
    {row.reason !== undefined && <span class="reason">{row.reason}</span>}
  </>,
  <span class="nowrap">{row.operation}</span>,
  <>
    <a href={linkTo(["commands", row.sender, row.id])} class="id">
      {row.id}
    </a>{" "}
    {row.sender !== own && <span class="reason">of {row.sender}</span>}
  </>,
  row.resource,
  <Time at={row.at} />,
];

/** The hash of the next part: more rows of a full page, or what lies behind a short or very long one. */
const olderThan = ({ rows, cursor }: ListPage, query: Readonly<Record<string, string>>): string => {
  const limit = Number(query.limit ?? FIRST_ROWS);
  return rows.length === limit && limit < MAX_ROWS
    ? linkTo(["commands"], { ...query, limit: String(Math.min(2 * limit, MAX_ROWS)) })
    : linkTo(["commands"], { ...query, cursor });
};

const Nothing = (props: {
  query: Readonly<Record<string, string>>;
  page: ListPage;
  canSend: boolean;
}): JSX.Element => {
  const { limit: _, ...filters } = props.query;
  if (props.page.cursor !== undefined) {
    return <Empty>None of the commands that this page examined matches. Older ones may.</Empty>;
  }
  return Object.keys(filters).length === 0 ? (
    <Empty>
      No commands yet.{" "}
      {props.canSend ? <a href="#/send">Send one</a> : "Send one: npx skyhook send"}
    </Empty>
  ) : (
    <Empty>
      No command matches the filters. <a href="#/commands">Show all commands</a>
    </Empty>
  );
};

/** The newest commands that match the filters of the address, live. */
export const CommandsPage = (props: { route: Route; session: Session }): JSX.Element => {
  const { route, session } = props;
  const query = Object.fromEntries(route.query);
  const { limit, cursor, ...filters } = query;
  const { data, error, reload } = useLoaded(
    // Without the limit, so that the rows stay while more of them are read.
    withQuery("/commands", { ...filters, cursor }),
    (signal) => get<ListPage>(withQuery("/commands", query), signal),
    refreshMs(session),
  );
  useNews(session, reload);
  const read = useRef(limit);
  useEffect(() => {
    if (read.current !== limit) reload();
    read.current = limit;
  }, [limit, reload]);
  return (
    <>
      <PageHead title="Commands">
        {session.allowsChanges && <BulkCancel filters={filters} />}
      </PageHead>
      <CommandFilters query={route.query} />
      {cursor !== undefined && (
        <p class="note">
          These are older commands. <a href={linkTo(["commands"], filters)}>Back to the newest</a>
        </p>
      )}
      <Pending error={error} hasData={data !== undefined} />
      {data?.rows.length === 0 && (
        <Nothing query={query} page={data} canSend={session.features.includes("send")} />
      )}
      {data && data.rows.length > 0 && (
        <Table
          label="Commands"
          heads={["status", "operation", "id", "resource", "accepted"]}
          rows={data.rows.map((row) => ({
            key: `${row.sender}/${row.id}/${row.at}`,
            cells: cellsOf(row, session.sender),
          }))}
        />
      )}
      {data?.cursor !== undefined && (
        <button
          type="button"
          onClick={() => {
            location.hash = olderThan(data, query);
          }}
        >
          Older commands
        </button>
      )}
    </>
  );
};
