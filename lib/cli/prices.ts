import { epochMsOf, timestamp } from "../contract/values.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { createGatewayClient } from "./gateway-client.ts";
import { printResult } from "./output.ts";
import { priceChangesText, priceHistoryText, priceListText } from "./price-text.ts";
import { jsonLine } from "./visible-text.ts";

export interface PriceOptions {
  /** Address of the running Skyhook. */
  readonly endpoint: string;
  readonly json?: boolean;
}

const show = <T>(views: T, { json }: PriceOptions, text: (views: T) => string): ExitCode => {
  printResult(json ? jsonLine(views) : text(views));
  return EXIT.ok;
};

/** @throws ExitError when no running Skyhook answers */
export const listKnownPrices = async (options: PriceOptions): Promise<ExitCode> =>
  show(await createGatewayClient(options.endpoint).prices(), options, priceListText);

/** @throws ExitError when no running Skyhook answers, or nothing was ever watched under the name */
export const showPriceHistory = async (name: string, options: PriceOptions): Promise<ExitCode> => {
  const history = await createGatewayClient(options.endpoint).priceHistory(name);
  if (history) return show(history, options, priceHistoryText);
  throw new ExitError(
    EXIT.refused,
    `${name}: nothing is or was watched under this name; those that are: npx skyhook prices list`,
  );
};

const UNITS_MS = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/** Reads a day, an instant, or how long ago: `24h`, `7d`. */
const instantOf = (since: string, clock: Clock): string => {
  const [, count = "", unit = ""] = /^(\d{1,6})([mhd])$/.exec(since) ?? [];
  const unitMs = UNITS_MS.get(unit);
  if (unitMs !== undefined) return new Date(clock.now() - Number(count) * unitMs).toISOString();
  const full = /^\d{4}-\d\d-\d\d$/.test(since) ? `${since}T00:00:00Z` : since;
  if (timestamp.safeParse(full).success) return new Date(epochMsOf(full)).toISOString();
  throw new ExitError(
    EXIT.refused,
    "--since: how long ago, such as 24h or 7d, a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z",
  );
};

/** @throws ExitError when no running Skyhook answers, or `since` is no time */
export const showPriceChanges = async (
  since: string,
  options: PriceOptions,
  clock: Clock,
): Promise<ExitCode> => {
  const instant = instantOf(since, clock);
  const changes = await createGatewayClient(options.endpoint).priceChanges(instant);
  return show(changes, options, priceChangesText);
};
