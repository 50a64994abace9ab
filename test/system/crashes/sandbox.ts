import type { Context } from "aws-lambda";
import { lambdaContext } from "../../../lib/local/aws-events.ts";
import {
  ATTEMPT_LEASE_MS,
  ATTEMPT_TIMEOUT_MS,
  type FunctionName,
  periodMsOf,
  timeoutMsOf,
} from "../../../lib/platform/deployment.ts";
import { once } from "../../../lib/platform/lambda/invocation.ts";
import type { Metrics } from "../../../lib/platform/ports/metrics.ts";
import { createAccess } from "../../../lib/provider/access.ts";
import { openAccounts } from "../../../lib/provider/accounts.ts";
import { createSkyhook, type Skyhook } from "../../../lib/skyhook.ts";
import {
  type Call,
  watchedFetch,
  watchedPorts,
  watchedSecrets,
  watchedSource,
} from "../../support/watched-ports.ts";
import { ACCOUNT, EVENT_SOURCE, FINGERPRINT_PARAMETER, OWN_SENDER, type Parts } from "./parts.ts";

const READS_REQUESTS: ReadonlySet<FunctionName> = new Set(["intake", "run-commands", "poll-tasks"]);

/** Port calls carry the number of their sandbox; a killed sandbox makes none. */
const portsOf = (parts: Parts, id: number, call: Call) => {
  const { ledger, queue, bus, wakes, clock, random, log } = parts;
  const ifAlive =
    <A extends readonly unknown[]>(note: (...args: A) => void) =>
    (...args: A): void => {
      if (!parts.faults.isDead(id)) note(...args);
    };
  const metrics: Metrics = {
    count: ifAlive(parts.metrics.count),
    measure: ifAlive(parts.metrics.measure),
  };
  return {
    ...watchedPorts(call, { ledger, queue, bus, waker: wakes }),
    secrets: watchedSecrets(call, parts.secrets),
    source: watchedSource(call, parts.source),
    fetch: watchedFetch(call, parts.provider),
    clock: { now: clock.now, sleep: clock.sleep },
    random,
    metrics,
    log: { ...log, bind: () => undefined },
  };
};

/** The composition of a cold start, as in functions/compose.ts, over the given ports. */
const startSkyhook = async (
  parts: Parts,
  { id, name, call }: { readonly id: number; readonly name: FunctionName; readonly call: Call },
): Promise<Skyhook> => {
  const { secrets, source, fetch, ...ports } = portsOf(parts, id, call);
  const accountOf = openAccounts(parts.accounts, {
    ...ports,
    secrets,
    fetch,
    environment: {},
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  });
  return createSkyhook(
    { ...ports, accountOf, thresholds: source, watchlist: source },
    {
      access: createAccess(parts.accounts, OWN_SENDER),
      ownSender: OWN_SENDER,
      fingerprintKey: READS_REQUESTS.has(name) ? await secrets.read(FINGERPRINT_PARAMETER) : "",
      runner: ports.random.uuid(),
      leaseMs: ATTEMPT_LEASE_MS,
      eventSource: EVENT_SOURCE,
      reactions: parts.reactions,
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
      jobAccount: ACCOUNT,
      pricePeriodMs: periodMsOf("price-snapshot"),
      aiTaskName: undefined,
    },
  );
};

/** The handlers that are deployed; the event sources build their events. */
// biome-ignore lint/suspicious/noExplicitAny: each handler has its own type of event
type Handler = (event: any, context: Context) => Promise<unknown>;

const handlerOf = (name: FunctionName, skyhook: Skyhook): Handler => {
  const handlers: Readonly<Record<FunctionName, Handler>> = {
    intake: skyhook.intake,
    "run-commands": skyhook.runCommands,
    "poll-tasks": skyhook.pollTasks,
    "sync-thresholds": skyhook.syncThresholds,
    "snapshot-prices": skyhook.snapshotPrices,
    "watch-ai-tasks": skyhook.watchAiTasks,
  };
  return handlers[name];
};

/** One sandbox of a function, which keeps its caches until it is killed. */
export interface Sandbox {
  readonly id: number;
  readonly name: FunctionName;
  invoke(event: unknown): Promise<unknown>;
}

/** @param call makes every port call of the sandbox */
export const openSandbox = (parts: Parts, id: number, name: FunctionName, call: Call): Sandbox => {
  const start = once(async () => handlerOf(name, await startSkyhook(parts, { id, name, call })));
  return {
    id,
    name,
    invoke: async (event) => (await start())(event, lambdaContext(name, timeoutMsOf(name), parts)),
  };
};
