import type { Command } from "commander";
import type { PriceTotal } from "../../jobs/prices/change.ts";
import type { PriceChangeView, PriceView, ReadingView } from "../../jobs/prices/memory.ts";
import { createGatewayClient, type GatewayClient } from "../admin/gateway.ts";
import { runAddress } from "../endpoint.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { jsonLine, printResult, type Row, tableText, visibleText } from "../render.ts";
import { instantOf } from "../time-flag.ts";
import { addExamples, type DeclareVerb, ending, endpointOption } from "../verb.ts";

/** Categories listed below one change; further ones are counted. */
const MAX_CATEGORIES = 8;

/** A time to the second, because runs are minutes apart. */
const timeText = (iso: string): string => iso.replace(/\.\d+Z$/, "Z");

const amountText = (amount: string | null): string => amount ?? "-";

/** `before → after`, or one amount if they are equal. */
const stepText = (before: string | null, after: string | null): string =>
  before === after ? amountText(after) : [before, after].map(amountText).join(" → ");

const totalCells = ({ per_hour, per_month, currency }: PriceTotal): Row =>
  [per_hour, per_month, currency].map(amountText);

const runText = ({ outcome, problem }: PriceView["lastRun"]): string =>
  problem === null ? outcome : `${outcome}: ${problem}`;

/** A line for each watched item: its latest price and the result of its last run. */
export const priceListText = (prices: readonly PriceView[]): string => {
  if (prices.length === 0) return "no prices yet";
  const rows = prices.map(({ name, kind, latest, lastRun }) => [
    name,
    kind,
    ...(latest
      ? [...totalCells(latest.total), latest.status, timeText(latest.lastSeenAt)]
      : ["-", "-", "-", "-", "-"]),
    timeText(lastRun.bucket),
    runText(lastRun),
  ]);
  const heads = ["name", "kind", "hour", "month", "currency", "status", "last seen", "run", ""];
  return tableText(heads, rows);
};

/** A line for each stored reading, in the given order. */
export const priceHistoryText = (readings: readonly ReadingView[]): string => {
  if (readings.length === 0) return "no readings yet";
  const rows = readings.map(({ number, readAt, lastSeenAt, total, status }) => [
    String(number),
    timeText(readAt),
    timeText(lastSeenAt),
    ...totalCells(total),
    status,
  ]);
  return tableText(["number", "read", "last seen", "hour", "month", "currency", "status"], rows);
};

const categoryLines = ({ categories }: PriceChangeView): readonly string[] => {
  const more = categories.length - MAX_CATEGORIES;
  return [
    ...categories
      .slice(0, MAX_CATEGORIES)
      .map(({ category, before, after }) =>
        visibleText(`    ${category}: ${stepText(before, after)}`),
      ),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
};

/** A line for each change, with the changed categories below. */
export const priceChangesText = (changes: readonly PriceChangeView[]): string => {
  if (changes.length === 0) return "no changes";
  const rows = changes.map(({ readAt, name, percent, before, after }) => [
    timeText(readAt),
    name,
    percent === null ? "-" : `${percent} %`,
    stepText(before.per_hour, after.per_hour),
    stepText(before.per_month, after.per_month),
    stepText(before.currency, after.currency),
  ]);
  const heads = ["read", "name", "change", "hour", "month", "currency"];
  const [headLine = "", ...lines] = tableText(heads, rows).split("\n");
  const entries = lines.flatMap((line, index) => {
    const change = changes[index];
    return change ? [line, ...categoryLines(change)] : [line];
  });
  return [headLine, ...entries].join("\n");
};

interface PriceFlags {
  readonly endpoint?: string;
  readonly json?: boolean;
}

const gatewayOf = ({ endpoint }: PriceFlags): GatewayClient =>
  createGatewayClient(runAddress(endpoint));

const print = <T>(views: T, { json }: PriceFlags, text: (views: T) => string): ExitCode => {
  printResult(json ? jsonLine(views) : text(views));
  return EXIT.ok;
};

export const declarePrices: DeclareVerb = (prices, { clock }) => {
  const addSub = (usage: string, description: string): Command =>
    prices
      .command(usage)
      .description(description)
      .option("--json", "print JSON")
      .addOption(endpointOption());

  prices.description(
    "Shows the prices that a running Skyhook has recorded for the items of its watchlist.",
  );
  addExamples(prices, [
    "npx skyhook prices list",
    "npx skyhook prices history web-server",
    "npx skyhook prices changes --since 7d",
  ]);
  addSub("list", "List the watched items with their latest prices").action(
    ending(async (flags: PriceFlags) =>
      print(await gatewayOf(flags).prices(), flags, priceListText),
    ),
  );
  addSub("history <name>", "List the readings of one item, newest first").action(
    ending(async (name: string, flags: PriceFlags) => {
      const history = await gatewayOf(flags).priceHistory(name);
      if (history) return print(history, flags, priceHistoryText);
      throw new ExitError(
        EXIT.refused,
        `no prices of ${visibleText(name)}: the watchlist never had an item of this name; list the items: npx skyhook prices list`,
      );
    }),
  );
  addSub("changes", "List price changes, newest first")
    .requiredOption("--since <time>", "an age such as 24h or 7d, a day, or a time in ISO 8601")
    .action(
      ending(async (flags: PriceFlags & { readonly since: string }) => {
        const gateway = gatewayOf(flags);
        const changes = await gateway.priceChanges(instantOf("--since", flags.since, clock));
        return print(changes, flags, priceChangesText);
      }),
    );
};
