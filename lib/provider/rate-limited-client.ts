import type { Clock } from "../platform/ports/clock.ts";
import { type Client, notSent } from "./client.ts";

/**
 * A client for whoever asks alone, without a request budget that is shared: however many calls are
 * asked for at once, they leave one by one, at even intervals.
 */
export const createPacedClient = (
  client: Client,
  { clock, requestsPerSecond }: { readonly clock: Clock; readonly requestsPerSecond: number },
): Client => {
  const intervalMs = 1000 / requestsPerSecond;
  /** When the next request may leave, epoch ms. */
  let nextAt = clock.now();
  return {
    async call(operation, request, signal) {
      const at = Math.max(nextAt, clock.now());
      nextAt = at + intervalMs;
      while (clock.now() < at && !signal?.aborted) {
        await clock.sleep(Math.ceil(at - clock.now()), signal);
      }
      if (signal?.aborted) throw notSent(operation);
      return client.call(operation, request, signal);
    },
  };
};
