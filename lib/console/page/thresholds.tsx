import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import type { ThresholdRow, ThresholdsView } from "../../admin/thresholds-view.ts";
import { formatByteSize } from "../../jobs/thresholds/byte-size.ts";
import { get } from "./api.ts";
import { useLoaded } from "./hooks.ts";
import { JobButton } from "./job-button.tsx";
import { Badge, Empty, ErrorNote, Fact, PageHead, Pending, Table, Time } from "./parts.tsx";

const ACTIONS: Readonly<Record<ThresholdRow["action"], readonly [text: string, tone: string]>> = {
  create: ["create", "good"],
  update: ["update", "busy"],
  delete: ["delete", "bad"],
  none: ["no change", "quiet"],
  keep: ["kept", "quiet"],
  unknown: ["not known", "wait"],
};

/** A limit as a size or a count; the exact bytes stand beside a size. */
const Limit = (props: { limit: string | null | undefined; unit: string }): JSX.Element => {
  const { limit, unit } = props;
  if (limit === undefined) return <span class="muted">not known</span>;
  if (limit === null) return <span class="muted">none</span>;
  if (unit === "count") return <>{limit}</>;
  const size = formatByteSize(limit);
  return size === limit ? (
    <>{limit} B</>
  ) : (
    <>
      {size} <span class="reason">{limit} B</span>
    </>
  );
};

const cellsOf = (row: ThresholdRow): readonly ComponentChildren[] => {
  const [text, tone] = ACTIONS[row.action];
  return [
    <Badge key="action" text={text} tone={tone} />,
    row.name,
    row.storage_name,
    row.bucket_name,
    <Limit key="wanted" limit={row.wanted} unit={row.unit} />,
    <Limit key="actual" limit={row.actual} unit={row.unit} />,
  ];
};

/** Rows that a page shows at first; a file may list thousands. */
const FIRST_ROWS = 200;

const Comparison = ({ rows }: { rows: readonly ThresholdRow[] }): JSX.Element => {
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? rows : rows.slice(0, FIRST_ROWS);
  return (
    <>
      <Table
        label="Wanted and actual thresholds"
        heads={["next sync", "name", "storage", "bucket", "wanted", "actual"]}
        rows={shown.map((row) => ({
          key: JSON.stringify([row.name, row.storage_name, row.bucket_name, row.action]),
          cells: cellsOf(row),
        }))}
      />
      {shown.length < rows.length && (
        <button type="button" class="quiet" onClick={() => setShowsAll(true)}>
          Show all {rows.length}
        </button>
      )}
    </>
  );
};

const planText = ({ rows, actualFrom }: ThresholdsView): string => {
  const countOf = (...actions: readonly ThresholdRow["action"][]): number =>
    rows.filter(({ action }) => actions.includes(action)).length;
  if (actualFrom === "none") return `not known here, ${rows.length} wanted`;
  const unchanged = countOf("none", "keep");
  if (unchanged === rows.length) return `nothing to do, ${unchanged} unchanged`;
  const changes = `${countOf("create")} to create, ${countOf("update")} to update, ${countOf("delete")} to delete`;
  return `${changes}, ${unchanged} unchanged`;
};

const ACTUAL_FROM: Readonly<Record<ThresholdsView["actualFrom"], string>> = {
  list: "the provider's list, read for this page",
  ledger: "what earlier syncs applied; the provider has no list of them",
  none: "not known here",
};

/** What is wrong with the file, and what to do. */
const NoPlan = ({ config }: { config: ThresholdsView["config"] }): JSX.Element | null => {
  switch (config.kind) {
    case "valid":
      return null;
    case "not-configured":
      return (
        <Empty>
          This run keeps no thresholds. Write a file with the thresholds that you want, and start
          Skyhook with <code>--thresholds FILE</code>.
        </Empty>
      );
    case "missing":
      return (
        <Empty>
          <code>{config.source}</code> does not exist, so a sync changes nothing. Write it; an empty
          list is <code>thresholds: []</code>.
        </Empty>
      );
    case "unreadable":
      return (
        <p class="note bad">
          <code>{config.source}</code> cannot be read: {config.problem}
        </p>
      );
    case "invalid":
      return (
        <div class="note bad">
          <code>{config.source}</code> is invalid, so a sync changes nothing:
          <ul>
            {config.problems.map(({ path, rule, line }) => (
              <li key={`${line}/${path}/${rule}`}>
                {line !== undefined && `line ${line}: `}
                {path !== "" && `${path}: `}
                {rule}
              </li>
            ))}
          </ul>
        </div>
      );
    default:
      return config satisfies never;
  }
};

const LastSync = ({ lastSync }: Pick<ThresholdsView, "lastSync">): JSX.Element => {
  if (!lastSync) return <>none recorded</>;
  const { at, outcome, counts } = lastSync;
  const parts = Object.entries(counts).flatMap(([name, count]) =>
    count > 0 ? `${count} ${name}` : [],
  );
  return (
    <>
      <Time at={at} /> <Badge text={outcome} tone={outcome === "complete" ? "good" : "wait"} />{" "}
      <span class="muted">{parts.join(", ")}</span>
    </>
  );
};

const Facts = ({ view }: { view: ThresholdsView }): JSX.Element => {
  const { config } = view;
  return (
    <dl>
      <Fact name="account">{view.account}</Fact>
      {config.kind !== "not-configured" && (
        <Fact name="wanted by">
          <code>{config.source}</code>
        </Fact>
      )}
      {config.kind === "valid" && (
        <>
          {config.clientId !== undefined && <Fact name="client">{config.clientId}</Fact>}
          <Fact name="unlisted thresholds">{config.prune ? "deleted (prune)" : "kept"}</Fact>
          <Fact name="this content">
            {config.isSynced ? "was synced completely" : "is not synced yet"}
          </Fact>
          <Fact name="actual">{ACTUAL_FROM[view.actualFrom]}</Fact>
          <Fact name="plan">{planText(view)}</Fact>
        </>
      )}
      <Fact name="last sync with changes">
        <LastSync lastSync={view.lastSync} />
      </Fact>
    </dl>
  );
};

const Drifts = ({ drifts }: Pick<ThresholdsView, "drifts">): JSX.Element => (
  <>
    <h2>Drift history</h2>
    {drifts.length === 0 ? (
      <Empty>
        No drift yet. A drift is a difference that appears after a complete sync, such as an edit at
        the provider.
      </Empty>
    ) : (
      <Table
        label="Drift history"
        heads={["time", "missing", "different", "unwanted", "first names"]}
        rows={drifts.map(({ at, missing, different, unwanted, names }) => ({
          key: at,
          cells: [
            <Time key="at" at={at} />,
            missing,
            different,
            unwanted,
            names.map((name) => <div key={name}>{name}</div>),
          ],
        }))}
      />
    )}
  </>
);

/** Wanted and actual thresholds side by side, the plan of the next sync, and the last drifts. */
export const ThresholdsPage = ({ session }: { session: Session }): JSX.Element => {
  // Not read again by itself: the list is a request to the provider.
  const { data, error, reload } = useLoaded("thresholds", (signal) =>
    get<ThresholdsView>("/thresholds", signal),
  );
  return (
    <>
      <PageHead title="Thresholds">
        <button type="button" class="quiet" onClick={reload}>
          Read again
        </button>
        {data && data.config.kind !== "not-configured" && (
          <JobButton session={session} job="sync-thresholds" label="Sync now" onEnd={reload}>
            <p>
              The sync reads the file again and makes the provider's thresholds equal to it. Plan of
              this page: {planText(data)}.
            </p>
            <p>Differences from content that was synced before are published as drift.</p>
          </JobButton>
        )}
      </PageHead>
      {data ? (
        <>
          {error && <ErrorNote error={error} />}
          <Facts view={data} />
          <NoPlan config={data.config} />
          {data.actualProblem !== undefined && (
            <p class="note">The actual thresholds are not known: {data.actualProblem}.</p>
          )}
          {data.config.kind === "valid" &&
            (data.rows.length === 0 ? (
              <Empty>
                The file lists no threshold
                {data.actualFrom === "list" && ", and the provider has none"}.
              </Empty>
            ) : (
              <Comparison rows={data.rows} />
            ))}
          <Drifts drifts={data.drifts} />
        </>
      ) : (
        <Pending error={error} />
      )}
    </>
  );
};
