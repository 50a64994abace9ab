import type { ComponentChildren, JSX } from "preact";
import type { Session } from "../../admin/answers.ts";
import type { PriceChangeView, PriceView } from "../../jobs/prices/memory.ts";
import { priceListCsv } from "../../jobs/prices/price-csv.ts";
import type { PriceTotals } from "../../jobs/prices/totals.ts";
import { get, withQuery } from "./api.ts";
import { DownloadButton } from "./download-button.tsx";
import { linkTo, type Route, useLoaded } from "./hooks.ts";
import { JobButton } from "./job-button.tsx";
import { Badge, Empty, Fact, PageHead, Pending, Table, Time } from "./parts.tsx";
import { PricePage, percentText } from "./price.tsx";

/** Age of the changes that the list shows: far enough back for a month's bill. */
const CHANGES_MS = 30 * 86_400_000;
/** How often a local run's prices are read again. A stage's are read on request: a read unit or two for each item. */
const REFRESH_MS = 5_000;

interface Prices {
  readonly prices: readonly PriceView[];
  readonly totals: PriceTotals;
  readonly changes: readonly PriceChangeView[];
}

const readPrices = async (signal: AbortSignal): Promise<Prices> => {
  const since = new Date(Date.now() - CHANGES_MS).toISOString();
  const [prices, totals, changes] = await Promise.all([
    get<readonly PriceView[]>("/prices", signal),
    get<PriceTotals>("/price-totals", signal),
    get<readonly PriceChangeView[]>(withQuery("/price-changes", { since }), signal),
  ]);
  return { prices, totals, changes };
};

const OUTCOME_TONES: Readonly<Record<string, string>> = { failed: "bad", changed: "busy" };

const cellsOf = (
  { name, kind, latest, lastRun }: PriceView,
  change: PriceChangeView | undefined,
): readonly ComponentChildren[] => [
  <a key="name" href={linkTo(["prices", name])}>
    {name}
  </a>,
  kind,
  <span key="month" class="number">
    {latest?.total.per_month} {latest?.total.per_month && latest.total.currency}
  </span>,
  <span key="hour" class="number">
    {latest?.total.per_hour} {latest?.total.per_hour && latest.total.currency}
  </span>,
  change && (
    <>
      {percentText(change.percent)}{" "}
      <span class="reason">
        <Time at={change.readAt} />
      </span>
    </>
  ),
  latest && <Time at={latest.lastSeenAt} />,
  <>
    <Badge text={lastRun.outcome} tone={OUTCOME_TONES[lastRun.outcome] ?? "quiet"} />
    {latest && latest.status !== "show" && <Badge text={`price ${latest.status}`} tone="wait" />}
    {lastRun.problem !== null && <div class="muted">{lastRun.problem}</div>}
  </>,
];

const WHY = { removed: "no longer on the watchlist", "no-price": "no price shown" } as const;

const Totals = ({ totals }: { totals: PriceTotals }): JSX.Element => (
  <>
    <h2>Totals</h2>
    <dl>
      {totals.totals.map(({ currency, per_month, per_hour }) => (
        <>
          {per_month.items > 0 && (
            <Fact name={`per month, items: ${per_month.items}`}>
              <strong class="nowrap">
                {per_month.amount} {currency}
              </strong>
            </Fact>
          )}
          {per_hour.items > 0 && (
            <Fact name={`per hour, items: ${per_hour.items}`}>
              <strong class="nowrap">
                {per_hour.amount} {currency}
              </strong>
            </Fact>
          )}
        </>
      ))}
    </dl>
    {totals.leftOut.length > 0 && (
      <p class="muted">
        Not in the totals:{" "}
        {totals.leftOut.map(({ name, why }) => `${name} (${WHY[why]})`).join(", ")}.
      </p>
    )}
  </>
);

const PriceList = ({ session }: { session: Session }): JSX.Element => {
  const everyMs = session.kind === "stage" ? undefined : REFRESH_MS;
  const { data, error, reload } = useLoaded("prices", readPrices, everyMs);
  return (
    <>
      <PageHead title="Prices">
        {data && data.prices.length > 0 && (
          <DownloadButton name="prices.csv" text={() => priceListCsv(data.prices)} />
        )}
        {everyMs === undefined && (
          <button type="button" class="quiet" onClick={reload}>
            Read again
          </button>
        )}
        <JobButton session={session} job="snapshot-prices" label="Snapshot now" onEnd={reload}>
          <p>
            The run asks the provider for the price of each item of the watchlist and publishes each
            change. It orders nothing. If the period has a snapshot already, it does nothing.
          </p>
        </JobButton>
      </PageHead>
      <Pending error={error} hasData={data !== undefined} />
      {data && data.prices.length === 0 && (
        <Empty>
          No prices yet. List what to price in a watchlist, and start Skyhook with{" "}
          <code>--watchlist FILE</code>.
        </Empty>
      )}
      {data && data.prices.length > 0 && (
        <>
          <Table
            label="Prices"
            heads={[
              "item",
              "kind",
              "month",
              "hour",
              "last change, 30 days",
              "last seen",
              "last run",
            ]}
            rows={data.prices.map((price) => ({
              key: price.name,
              cells: cellsOf(
                price,
                data.changes.find(({ name }) => name === price.name),
              ),
            }))}
          />
          <Totals totals={data.totals} />
        </>
      )}
    </>
  );
};

/** The watched items with their prices and totals, or the chart of one item. */
export const PricesPage = (props: { route: Route; session: Session }): JSX.Element => {
  const [, name] = props.route.path;
  return name === undefined ? (
    <PriceList session={props.session} />
  ) : (
    <PricePage name={name} session={props.session} />
  );
};
