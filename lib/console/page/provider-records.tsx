import type { ComponentChildren, JSX } from "preact";
import type { Session } from "../../admin/answers.ts";
import type { ProviderView } from "../../admin/provider-view.ts";
import { get, refreshMs } from "./api.ts";
import { type Loaded, linkTo, type Route, useLoaded } from "./hooks.ts";
import { Badge, Empty, ErrorNote, Pending, Table } from "./parts.tsx";

/** The answer of a part of the provider's view. */
export type Answer<Part extends keyof ProviderView> = NonNullable<
  Awaited<ReturnType<ProviderView[Part]>>
>;

/** The answer of a read, or its state before that. */
export const Answered = <T,>(props: {
  loaded: Loaded<T>;
  children: (data: T) => ComponentChildren;
}): JSX.Element => {
  const { data, error } = props.loaded;
  if (data === undefined) return <Pending error={error} />;
  return (
    <>
      {error && <ErrorNote error={error} />}
      {props.children(data)}
    </>
  );
};

/** A kind of record in words. */
export const kindText = (kind: string): string => kind.replaceAll("_", " ");

type ProviderRecord = Answer<"records">["rows"][number];

const NAMES = ["name", "id", "task_id", "server_id", "uuid", "starts_at", "region"];

/** The name of a record: its first field that identifies it. */
const nameOf = (row: ProviderRecord): string =>
  String(NAMES.map((name) => row[name]).find((value) => value !== undefined && value !== null));

const statusOf = ({ status, state }: ProviderRecord): string | undefined => {
  const text = status ?? state;
  return typeof text === "string" ? text : undefined;
};

const placeOf = ({ project_id: project, region_id: region }: ProviderRecord): string =>
  [project, region].filter((part) => part !== undefined && part !== null).join(" / ");

/** The records of one kind, a page at a time. */
export const RecordsTab = (props: {
  kind: string;
  route: Route;
  session: Session;
}): JSX.Element => {
  const { kind, route, session } = props;
  const offset = Math.max(0, Number.parseInt(route.query.get("offset") ?? "0", 10) || 0);
  const path = `/provider/records/${encodeURIComponent(kind)}?offset=${offset}`;
  const read = (signal: AbortSignal) => get<Answer<"records">>(path, signal);
  const loaded = useLoaded(path, read, refreshMs(session));
  const at = (from: number) => linkTo(["provider", "state", kind], { offset: String(from) });
  return (
    <>
      <p>
        <a href="#/provider/state">All kinds</a>
      </p>
      <Answered loaded={loaded}>
        {({ count, rows }) => (
          <>
            <h2>
              {kindText(kind)}, {count}
            </h2>
            {rows.length === 0 ? (
              <Empty>
                {count === 0 ? "The service has no record of this kind." : "No further records."}
              </Empty>
            ) : (
              <Table
                label={kindText(kind)}
                heads={["record", "status", "project / region", "fields"]}
                rows={rows.map((row, index) => ({
                  key: `${offset + index} ${nameOf(row)}`,
                  cells: [
                    <span class="id">{nameOf(row)}</span>,
                    statusOf(row) && <Badge text={statusOf(row) ?? ""} />,
                    placeOf(row),
                    <details>
                      <summary>{Object.keys(row).length} fields</summary>
                      <pre>{JSON.stringify(row, undefined, 2)}</pre>
                    </details>,
                  ],
                }))}
              />
            )}
            <div class="actions">
              {offset > 0 && (
                <a class="button quiet" href={at(0)}>
                  First records
                </a>
              )}
              {offset + rows.length < count && rows.length > 0 && (
                <a class="button quiet" href={at(offset + rows.length)}>
                  Next records
                </a>
              )}
            </div>
          </>
        )}
      </Answered>
    </>
  );
};
