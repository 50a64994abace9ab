import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Session } from "../../admin/answers.ts";
import type { PriceChangeView, ReadingView } from "../../jobs/prices/memory.ts";
import { historyCsv } from "../../jobs/prices/price-csv.ts";
import { get, withQuery } from "./api.ts";
import { DownloadButton } from "./download-button.tsx";
import { useLoaded } from "./hooks.ts";
import { Badge, Empty, ErrorNote, Fact, PageHead, Pending, Table, Time } from "./parts.tsx";
import { PriceChart } from "./price-chart.tsx";
import { type PriceUnit, stepsOf, unitsOf } from "./price-steps.ts";

const REFRESH_MS = 5_000;
const UNITS: Readonly<Record<PriceUnit, string>> = { per_month: "per month", per_hour: "per hour" };

interface History {
  readonly readings: readonly ReadingView[];
  readonly changes: readonly PriceChangeView[];
}

const readHistory = async (name: string, signal: AbortSignal): Promise<History> => {
  const readings = await get<readonly ReadingView[]>(`/prices/${encodeURIComponent(name)}`, signal);
  const since = readings.at(-1)?.readAt;
  const changes = since
    ? await get<readonly PriceChangeView[]>(withQuery("/price-changes", { since, name }), signal)
    : [];
  return { readings, changes };
};

/** `+12.50 %`, with a sign for either direction. */
export const percentText = (percent: string | null): string => {
  if (percent === null) return "not comparable";
  return `${percent.startsWith("-") ? "" : "+"}${percent} %`;
};

const cellsOf = (
  { number, readAt, lastSeenAt, status, total }: ReadingView,
  change: PriceChangeView | undefined,
): readonly ComponentChildren[] => [
  number,
  <Time key="read" at={readAt} />,
  <Time key="seen" at={lastSeenAt} />,
  total.per_month,
  total.per_hour,
  total.currency,
  status === "show" ? undefined : <Badge text={`price ${status}`} tone="wait" />,
  change && percentText(change.percent),
];

const ReadingTable = ({ readings, changes }: History): JSX.Element => (
  <Table
    label="Readings, the newest first"
    heads={["number", "read", "last seen", "month", "hour", "currency", "status", "change"]}
    rows={readings.map((reading) => ({
      key: String(reading.number),
      cells: cellsOf(
        reading,
        changes.find(({ number }) => number === reading.number),
      ),
    }))}
  />
);

/** What a reader who does not see the chart learns from it. */
const chartLabel = (name: string, unit: PriceUnit, count: number, changeCount: number): string =>
  `Price of ${name} ${UNITS[unit]}, readings: ${count}, changes: ${changeCount}. The table below has every reading.`;

const Chart = (props: { name: string; readings: readonly ReadingView[] }): JSX.Element | null => {
  const { name, readings } = props;
  const units = unitsOf(readings);
  const [chosen, setChosen] = useState<PriceUnit>();
  const unit = chosen ?? units[0];
  // An answer with the same readings must not draw the chart anew.
  const content = JSON.stringify(readings);
  const steps = useMemo(() => unit && stepsOf(readings, unit), [content, unit]);
  if (!unit || !steps) return <Empty>The provider has shown no amount of this item.</Empty>;
  return (
    <>
      {units.length > 1 && (
        <label class="inline">
          amount{" "}
          <select
            value={unit}
            onChange={({ currentTarget }) => setChosen(currentTarget.value as PriceUnit)}
          >
            {units.map((each) => (
              <option key={each} value={each}>
                {UNITS[each]}
              </option>
            ))}
          </select>
        </label>
      )}
      <PriceChart
        steps={steps}
        label={chartLabel(name, unit, readings.length, steps.changes.length)}
      />
    </>
  );
};

const Newest = ({ reading }: { reading: ReadingView }): JSX.Element => (
  <dl>
    <Fact name="kind">{reading.kind}</Fact>
    <Fact name="per month">
      {reading.total.per_month ?? "none"} {reading.total.per_month && reading.total.currency}
    </Fact>
    <Fact name="per hour">
      {reading.total.per_hour ?? "none"} {reading.total.per_hour && reading.total.currency}
    </Fact>
    <Fact name="since">
      <Time at={reading.readAt} />
    </Fact>
    <Fact name="last seen">
      <Time at={reading.lastSeenAt} />
    </Fact>
  </dl>
);

/** One item: its price over time, and every reading as a table. */
export const PricePage = (props: { name: string; session: Session }): JSX.Element => {
  const { name, session } = props;
  const everyMs = session.kind === "stage" ? undefined : REFRESH_MS;
  const { data, error, reload } = useLoaded(
    `price/${name}`,
    (signal) => readHistory(name, signal),
    everyMs,
  );
  const [newest] = data?.readings ?? [];
  return (
    <>
      <PageHead title={name}>
        <a class="button quiet" href="#/prices">
          All prices
        </a>
        {everyMs === undefined && (
          <button type="button" class="quiet" onClick={reload}>
            Read again
          </button>
        )}
        {data && newest && (
          <DownloadButton name={`${name}.csv`} text={() => historyCsv(name, data.readings)} />
        )}
      </PageHead>
      {!data && error?.status === 404 && (
        <Empty>
          The watchlist never had an item of this name. All prices has the names that it had.
        </Empty>
      )}
      {!data && error?.status !== 404 && <Pending error={error} />}
      {data && error && <ErrorNote error={error} />}
      {data && !newest && (
        <Empty>No reading yet. The list of prices shows how the last run of this item ended.</Empty>
      )}
      {data && newest && (
        <>
          <Newest reading={newest} />
          <Chart name={name} readings={data.readings} />
          <h2>Readings</h2>
          <ReadingTable readings={data.readings} changes={data.changes} />
        </>
      )}
    </>
  );
};
