import type { JSX } from "preact";
import type { ListStatus } from "../../admin/list-query.ts";
import { linkTo } from "./hooks.ts";

/** Every status of the list. The schema itself is not in the page, so the compiler compares both. */
const STATUSES: Readonly<Record<ListStatus, true>> = {
  accepted: true,
  waiting: true,
  running: true,
  following: true,
  succeeded: true,
  failed: true,
  cancelled: true,
  rejected: true,
  "unknown-outcome": true,
};

const TIMES = ["since", "until"] as const;

/** An instant as the value of a `datetime-local` field, in the reader's time zone. */
const localTime = (at: string | null): string => {
  if (at === null || Number.isNaN(Date.parse(at))) return "";
  const date = new Date(at);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, "2026-01-31T12:00".length);
};

const instantOf = (localTime: string): string =>
  localTime === "" ? "" : new Date(localTime).toISOString();

const TextFilter = (props: { name: string; query: URLSearchParams }): JSX.Element => (
  <label>
    {props.name}
    <input
      name={props.name}
      value={props.query.get(props.name) ?? ""}
      autocomplete="off"
      spellcheck={false}
    />
  </label>
);

/** The filters of the list; the address keeps them, so that a filtered list can be shared and reloaded. */
export const CommandFilters = ({ query }: { query: URLSearchParams }): JSX.Element => {
  const apply = (event: Event): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const values = [...form].map(([name, value]) => {
      const text = String(value).trim();
      return [name, TIMES.some((time) => time === name) ? instantOf(text) : text];
    });
    location.hash = linkTo(["commands"], Object.fromEntries(values));
  };
  const hasMore = ["account", "sender", ...TIMES].some((name) => query.has(name));
  return (
    <form onSubmit={apply} key={query.toString()}>
      <div class="filters">
        <label>
          status
          <select name="status" value={query.get("status") ?? ""}>
            <option value="">any</option>
            {Object.keys(STATUSES).map((status) => (
              <option key={status} value={status}>
                {status}
              </option>
            ))}
          </select>
        </label>
        <TextFilter name="operation" query={query} />
        <TextFilter name="resource" query={query} />
        <div class="actions">
          <button type="submit">Filter</button>
          <a class="button quiet" href="#/commands">
            Clear
          </a>
        </div>
      </div>
      <details class="more-filters" open={hasMore}>
        <summary>More filters</summary>
        <div class="filters">
          <TextFilter name="account" query={query} />
          <TextFilter name="sender" query={query} />
          {TIMES.map((name) => (
            <label key={name}>
              accepted {name}
              <input type="datetime-local" name={name} value={localTime(query.get(name))} />
            </label>
          ))}
        </div>
      </details>
    </form>
  );
};
