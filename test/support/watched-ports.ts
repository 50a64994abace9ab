import type { CommandDeps } from "../../lib/engine/deps.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../lib/platform/deployment.ts";
import type { EventBus } from "../../lib/platform/ports/bus.ts";
import type { Clock } from "../../lib/platform/ports/clock.ts";
import type { Ledger } from "../../lib/platform/ports/ledger.ts";
import { type Client, createClient } from "../../lib/provider/client.ts";
import type { Fetch, Provider } from "./provider.ts";

/** Makes a port call by its name; with a limit, for that many entries only. */
export type Call = <T>(name: string, effect: (limit?: number) => Promise<T>) => Promise<T>;

/** The same ledger, with every call made by `call`. */
export const watchedLedger = (call: Call, ledger: Ledger): Ledger => ({
  read: (key) => call(`ledger.read ${key}`, () => ledger.read(key)),
  write: (item) => call(`ledger.write ${item.key}`, () => ledger.write(item)),
  listDue: (...query) => call("ledger.listDue", () => ledger.listDue(...query)),
  list: (...page) => call("ledger.list", () => ledger.list(...page)),
});

/**
 * The same bus, with every call made by `call`. The port never rejects: a failure is an outcome of each
 * entry, unless the invocation was killed.
 */
export const watchedBus = (call: Call, bus: EventBus): EventBus => ({
  publish: async (entries) => {
    const failed = { kind: "failed", code: "fault", message: "" } as const;
    try {
      return await call("bus.publish", (limit) => bus.publish(entries.slice(0, limit)));
    } catch (error) {
      if (error instanceof Error && error.name === "Killed") throw error;
      const isHalf = error instanceof Error && error.message === "fails half-way";
      return entries.map((_, index) =>
        isHalf && index === 0 ? ({ kind: "published" } as const) : failed,
      );
    }
  },
});

type Ports = Pick<CommandDeps, "bus" | "ledger" | "queue" | "waker">;

/** The same ports, with every call made by `call`. */
export const watchedPorts = (call: Call, { ledger, queue, bus, waker }: Ports): Ports => ({
  ledger: watchedLedger(call, ledger),
  queue: { send: (message) => call("queue.send", () => queue.send(message)) },
  bus: watchedBus(call, bus),
  waker: { wakeAt: (...wake) => call("waker.wakeAt", () => waker.wakeAt(...wake)) },
});

/** The same `fetch`, with every request made by `call`. */
export const watchedFetch =
  (call: Call, { fetch }: Pick<Provider, "fetch">): Fetch =>
  (request) =>
    call(`fetch ${request.method} ${new URL(request.url).pathname}`, () => fetch(request));

/** A client of the provider, with every request made by `call`. */
export const watchedClient = (call: Call, provider: Provider, { now }: Clock): Client => {
  // An attempt has no time limit here, because the clock does not advance while it runs.
  const patient: Clock = {
    now,
    sleep: (_ms, signal) =>
      new Promise((resolve) => signal?.addEventListener("abort", () => resolve())),
  };
  return createClient({
    baseUrl: "http://provider.test",
    apiKey: async () => provider.apiKey,
    fetch: watchedFetch(call, provider),
    clock: patient,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    paths: {},
  });
};
