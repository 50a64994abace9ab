import type { Command } from "commander";
import type { Clock } from "../platform/ports/clock.ts";
import { checkedEndpoint, endpointOption } from "./endpoint-option.ts";
import type { ExitCode } from "./exit-code.ts";

interface PriceFlags {
  readonly endpoint?: string;
  readonly json?: boolean;
}

/** Adds `prices list | history | changes`. */
export const addPriceCommands = (
  program: Command,
  clock: Clock,
  end: (exitCode: Promise<ExitCode>) => Promise<void>,
): void => {
  const prices = program
    .command("prices")
    .description("show what a running Skyhook remembers of prices");
  const add = (usage: string, description: string): Command =>
    prices
      .command(usage)
      .description(description)
      .option("--json", "print JSON")
      .addOption(endpointOption());
  const checked = (flags: PriceFlags) => ({ ...flags, endpoint: checkedEndpoint(flags.endpoint) });

  add("list", "what is watched, each with its latest price").action((flags: PriceFlags) => {
    const options = checked(flags);
    return end(import("./prices.ts").then((it) => it.listKnownPrices(options)));
  });
  add("history <name>", "every reading of one price, newest first").action(
    (name: string, flags: PriceFlags) => {
      const options = checked(flags);
      return end(import("./prices.ts").then((it) => it.showPriceHistory(name, options)));
    },
  );
  add("changes", "what has changed, newest first")
    .requiredOption("--since <time>", "how long ago (24h, 7d), a day, or a time in ISO 8601")
    .action((flags: PriceFlags & { readonly since: string }) => {
      const options = checked(flags);
      return end(
        import("./prices.ts").then((it) => it.showPriceChanges(flags.since, options, clock)),
      );
    });
};
