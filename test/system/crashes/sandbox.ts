import type { Context } from "aws-lambda";
import { createHandler as createIntake } from "../../../functions/intake/handler.ts";
import { createHandler as createPollTasks } from "../../../functions/poll-tasks/handler.ts";
import { createHandler as createRunCommands } from "../../../functions/run-commands/handler.ts";
import { createHandler as createSnapshotPrices } from "../../../functions/snapshot-prices/handler.ts";
import { createHandler as createSyncThresholds } from "../../../functions/sync-thresholds/handler.ts";
import { createHandler as createWatchAiTasks } from "../../../functions/watch-ai-tasks/handler.ts";
import { lambdaContext } from "../../../lib/local/lambda-context.ts";
import {
  ATTEMPT_LEASE_MS,
  ATTEMPT_TIMEOUT_MS,
  type FunctionName,
  periodMsOf,
  timeoutMsOf,
} from "../../../lib/platform/deployment.ts";
import { once } from "../../../lib/platform/lambda/start-up.ts";
import type { Metrics } from "../../../lib/platform/ports/metrics.ts";
import { createAccess } from "../../../lib/provider/access.ts";
import { openAccounts } from "../../../lib/provider/accounts.ts";
import {
  type Call,
  watchedFetch,
  watchedPorts,
  watchedSecrets,
  watchedSource,
} from "../../support/watched-ports.ts";
import { ACCOUNT, EVENT_SOURCE, FINGERPRINT_PARAMETER, OWN_SENDER, type Parts } from "./parts.ts";

/** What the ports of one sandbox do is known by its number; a sandbox that was killed does nothing. */
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

/** What a cold start makes, as the functions' own `deps.ts` do, over the ports given. */
const loadDeps = (parts: Parts, id: number, call: Call) => {
  const { secrets, source, fetch, ...ports } = portsOf(parts, id, call);
  const accountOf = openAccounts(parts.accounts, {
    ...ports,
    secrets,
    fetch,
    environment: {},
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  });
  const account = accountOf(ACCOUNT);
  if (!account) throw new Error("no account");
  const job = once(async () => ({
    ...ports,
    account,
    source,
    periodMs: periodMsOf("price-snapshot"),
    taskName: undefined,
  }));
  const commands = once(async () => ({
    log: ports.log,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    commands: {
      ...ports,
      accountOf,
      access: createAccess(parts.accounts, OWN_SENDER),
      ownSender: OWN_SENDER,
      fingerprintKey: await secrets.read(FINGERPRINT_PARAMETER),
      runner: ports.random.uuid(),
      leaseMs: ATTEMPT_LEASE_MS,
    },
  }));
  const intake = async () => {
    const { commands: shared, log } = await commands();
    return { log, intake: { ...shared, eventSource: EVENT_SOURCE, reactions: parts.reactions } };
  };
  return { intake, commands, job };
};

/** The real handlers; what they are called with is what the sources of events make. */
// biome-ignore lint/suspicious/noExplicitAny: each handler has an event of its own
type Handler = (event: any, context: Context) => Promise<unknown>;

const handlerOf = (name: FunctionName, deps: ReturnType<typeof loadDeps>): Handler => {
  const handlers: Record<FunctionName, () => Handler> = {
    intake: () => createIntake(deps.intake),
    "run-commands": () => createRunCommands(deps.commands),
    "poll-tasks": () => createPollTasks(deps.commands),
    "sync-thresholds": () => createSyncThresholds(deps.job),
    "snapshot-prices": () => createSnapshotPrices(deps.job),
    "watch-ai-tasks": () => createWatchAiTasks(deps.job),
  };
  return handlers[name]();
};

/** One sandbox of a function, which keeps what it has read until it dies. */
export interface Sandbox {
  readonly id: number;
  readonly name: FunctionName;
  invoke(event: unknown): Promise<unknown>;
}

/** @param call makes every port call of the sandbox */
export const openSandbox = (parts: Parts, id: number, name: FunctionName, call: Call): Sandbox => {
  const handler = handlerOf(name, loadDeps(parts, id, call));
  return {
    id,
    name,
    invoke: (event) => handler(event, lambdaContext(name, timeoutMsOf(name), parts)),
  };
};
