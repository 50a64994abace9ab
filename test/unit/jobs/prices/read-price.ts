import { askPrice } from "../../../../lib/jobs/prices/reading.ts";
import { readWatchlist } from "../../../../lib/jobs/prices/watchlist.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../../lib/platform/deployment.ts";
import { createClient } from "../../../../lib/provider/client.ts";
import { BUILT_IN_API_KEYS } from "../../../../lib/service/state/keys.ts";
import type { State } from "../../../../lib/service/state/state.ts";
import type { Fetch } from "../../../support/provider.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";
import { startService } from "../../service/harness.ts";
import { watchlistOf } from "./price-world.ts";

/** Reading of an item's price from a provider's reply. */
export const readFrom = async (item: string, fetch: Fetch) => {
  const read = readWatchlist(watchlistOf(item));
  if (read.kind === "invalid") throw new Error(JSON.stringify(read.problems));
  const client = createClient({
    baseUrl: "http://provider.test",
    apiKey: async () => BUILT_IN_API_KEYS.first,
    fetch,
    clock: createVirtualClock(),
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    paths: {},
  });
  return askPrice(client, read.value[0]!.order);
};

/** Reading of an item's price from the embedded service. */
export const readingOf = async (item: string, state = (builtIn: State) => builtIn) =>
  readFrom(item, (await startService({ state })).service.fetch);

/** Reading of a reply that the embedded service does not give, in wire format. */
export const readingOfText = (item: string, reply: string) =>
  readFrom(item, async () => new Response(reply, { status: 200 }));
