import { type Command, Option } from "commander";
import { changesCsv, historyCsv, priceListCsv } from "../../jobs/prices/price-csv.ts";
import { openPriceAdmin } from "../admin/client.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import type { Columns } from "../layout.ts";
import { priceChangesText, priceHistoryText, priceListText } from "../price-text.ts";
import { jsonLine, printData, printResult, visibleText } from "../render.ts";
import { drawsBlocks } from "../sparkline.ts";
import { instantOf } from "../time-flag.ts";
import {
  addExamples,
  type DeclareVerb,
  ending,
  endpointOption,
  stageOption,
  stageRights,
} from "../verb.ts";

interface PriceFlags {
  readonly endpoint?: string;
  readonly stage?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** The forms of an answer besides JSON. */
interface Forms<T> {
  csv(views: T): string;
  text(views: T, columns: Columns): string;
}

const print = <T>(views: T, { json, csv }: PriceFlags, forms: Forms<T>): ExitCode => {
  if (csv) printData(forms.csv(views));
  else printResult(json ? jsonLine(views) : (columns) => forms.text(views, columns));
  return EXIT.ok;
};

const noSuchPrice = (name: string): ExitError =>
  new ExitError(
    EXIT.refused,
    `no prices of ${visibleText(name)}: the watchlist never had an item of this name; list the items: npx skyhook prices list`,
  );

const HISTORY_DESCRIPTION = `Lists the readings of one item, the newest first. A reading is stored when the price differs from the one before; "last seen" is the last run that read the same price.

At a terminal, a line of blocks shows the price over time. --csv prints exact decimals, a line for each reading, and marks text that a spreadsheet would calculate with an apostrophe.`;

export const declarePrices: DeclareVerb = (prices, ports) => {
  const addSub = (usage: string, summary: string, description = summary): Command =>
    prices
      .command(usage)
      .summary(summary)
      .description(description)
      .option("--json", "print JSON")
      .addOption(new Option("--csv", "print CSV for a spreadsheet").conflicts("json"))
      .addOption(endpointOption())
      .addOption(stageOption());

  prices.description(
    `Shows the prices that a running Skyhook or a stage has recorded for the items of its watchlist.

${stageRights("dynamodb:GetItem on the table skyhook-STAGE-ledger and lambda:GetFunctionConfiguration on the function skyhook-STAGE-sync-thresholds, which knows the account of the jobs")}`,
  );
  addExamples(prices, [
    "npx skyhook prices list",
    "npx skyhook prices history web-server",
    "npx skyhook prices history web-server --csv > web-server.csv",
    "npx skyhook prices changes --since 7d --stage prod",
  ]);
  addSub("list", "List the watched items with their latest prices").action(
    ending(async (flags: PriceFlags) => {
      const list = await (await openPriceAdmin(flags, ports)).list();
      return print(list, flags, { csv: priceListCsv, text: priceListText });
    }),
  );
  addSub(
    "history <name>",
    "List the readings of one item, newest first",
    HISTORY_DESCRIPTION,
  ).action(
    ending(async (name: string, flags: PriceFlags) => {
      const history = await (await openPriceAdmin(flags, ports)).history(name);
      if (!history) throw noSuchPrice(name);
      return print(history, flags, {
        csv: (readings) => historyCsv(name, readings),
        text: (readings, columns) => priceHistoryText(readings, columns, drawsBlocks(process.env)),
      });
    }),
  );
  addSub("changes", "List price changes, newest first")
    .requiredOption(
      "--since <time>",
      "required: an age such as 24h or 7d, a day, or a time in ISO 8601",
    )
    .action(
      ending(async (flags: PriceFlags & { readonly since: string }) => {
        const since = Date.parse(instantOf("--since", flags.since, ports.clock));
        const changes = await (await openPriceAdmin(flags, ports)).changes(since);
        return print(changes, flags, { csv: changesCsv, text: priceChangesText });
      }),
    );
};
