import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import type { ListPage, ListRow } from "../../admin/list.ts";
import { get, refreshMs, withQuery } from "./api.ts";
import { linkTo, type Route, useLoaded } from "./hooks.ts";
import { Badge, Empty, ErrorNote, PageHead, Pending, Table, Time } from "./parts.tsx";

const STATUSES = [
  ...["accepted", "waiting", "running", "following", "succeeded", "failed", "cancelled"],
  ...["rejected", "unknown-outcome"],
];

const FILTERS = ["account", "operation", "sender", "resource"] as const;

/** The filters of the list; the address keeps them, so that a filtered list can be shared and reloaded. */
const Filters = ({ query }: { query: URLSearchParams }): JSX.Element => {
  const apply = (event: Event): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const values = [...form].map(([name, value]) => [name, String(value).trim()]);
    location.hash = linkTo(["commands"], Object.fromEntries(values));
  };
  return (
    <form class="filters" onSubmit={apply} key={query.toString()}>
      <label>
        status
        <select name="status" value={query.get("status") ?? ""}>
          <option value="">any</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {status}
            </option>
          ))}
        </select>
      </label>
      {FILTERS.map((name) => (
        <label key={name}>
          {name}
          <input name={name} value={query.get(name) ?? ""} autocomplete="off" spellcheck={false} />
        </label>
      ))}
      <div class="actions">
        <button type="submit">Filter</button>
        <a class="button quiet" href="#/commands">
          Clear
        </a>
      </div>
    </form>
  );
};

const cellsOf = (row: ListRow): readonly ComponentChildren[] => [
  <>
    <Badge text={row.status} />
    {row.reason !== undefined && <span class="reason">{row.reason}</span>}
  </>,
  row.operation,
  <a href={linkTo(["commands", row.sender, row.id])} class="id">
    {row.id}
  </a>,
  row.resource,
  <Time at={row.at} />,
];

/** The newest commands that match the filters, and further pages on request. */
export const CommandsPage = (props: { route: Route; session: Session }): JSX.Element => {
  const { route, session } = props;
  const filters = Object.fromEntries(route.query);
  const key = JSON.stringify(filters);
  const [older, setOlder] = useState<{ key: string; pages: readonly ListPage[] }>();
  const first = useLoaded(
    key,
    (signal) => get<ListPage>(withQuery("/commands", filters), signal),
    refreshMs(session),
  );
  const later = older?.key === key ? older.pages : [];
  const { cursor } = later.at(-1) ?? first.data ?? {};
  const loadMore = async (): Promise<void> => {
    const page = await get<ListPage>(withQuery("/commands", { ...filters, cursor }));
    setOlder({ key, pages: [...later, page] });
  };
  const rows = [...(first.data?.rows ?? []), ...later.flatMap((page) => page.rows)];
  return (
    <>
      <PageHead title="Commands" />
      <Filters query={route.query} />
      {first.data ? (
        <>
          {first.error && <ErrorNote error={first.error} />}
          {rows.length === 0 ? (
            <Empty>
              {key === "{}" ? "No commands yet. Send one." : "No command matches the filters."}
            </Empty>
          ) : (
            <Table
              label="Commands"
              heads={["status", "operation", "id", "resource", "accepted"]}
              rows={rows.map((row) => ({
                key: `${row.sender}/${row.id}/${row.at}`,
                cells: cellsOf(row),
              }))}
            />
          )}
          {cursor !== undefined && (
            <button type="button" onClick={loadMore}>
              Older commands
            </button>
          )}
        </>
      ) : (
        <Pending error={first.error} />
      )}
    </>
  );
};
