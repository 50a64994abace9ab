import type { Context, SQSEvent } from "aws-lambda";
import { createImmortalMachine, type Machine } from "../../../lib/local/lambda.ts";
import { LOCAL_SENDER } from "../../../lib/local/local-sender.ts";
import { shareCalls } from "../../../lib/platform/aws/shared-calls.ts";
import {
  ATTEMPT_LEASE_MS,
  ATTEMPT_TIMEOUT_MS,
  type FunctionName,
} from "../../../lib/platform/deployment.ts";
import type { Clock } from "../../../lib/platform/ports/clock.ts";
import type { Shards } from "../../../lib/platform/ports/ledger.ts";
import type { Metrics } from "../../../lib/platform/ports/metrics.ts";
import type { Random } from "../../../lib/platform/ports/random.ts";
import { createAccess } from "../../../lib/provider/access.ts";
import { openAccounts } from "../../../lib/provider/accounts.ts";
import { type AccountsConfig, ownAccount } from "../../../lib/provider/accounts-config.ts";
import { createSkyhook, type SkyhookConfig, type SkyhookPorts } from "../../../lib/skyhook.ts";
import { silentLog } from "../../support/logs.ts";
import { createTextSource } from "../../support/text-source.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";
import { createAttribution, type Part, type Use } from "./attribution.ts";
import {
  type createCpuMeter,
  type createTotals,
  gigabyteSecondsOf,
  START_CPU_MS,
} from "./invocation-meter.ts";
import { CALL_MS, createMeteredPorts, EVENT_SOURCE, type MeteredAws } from "./metered-ports.ts";
import type { Provider } from "./provider.ts";

/** A request for run-commands, which no scenario limits. */
const UNLIMITED = 1_000_000;

/** Steps that a held call takes at most, so that the machines do not call in step. */
const HELD_STEPS = 8;

const countedNowhere: Metrics = { count: () => {}, measure: () => {} };

/** Time that an invocation took, ms. */
export interface RunTime {
  readonly cpuMs: number;
  /** Virtual time of its calls and sleeps. */
  readonly waitedMs: number;
}

/** What all machines share. */
export interface MeteredSurroundings extends MeteredAws {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly provider: Pick<Provider, "fetch"> & { readonly apiKey: string };
  readonly shards: Shards;
  /** Accounts with the rate limit of the poller. */
  readonly config: AccountsConfig;
  readonly totals: ReturnType<typeof createTotals>;
  readonly cpu: ReturnType<typeof createCpuMeter>;
  /** Counts the requests of the poller. */
  readonly following: { requests: number };
  /** Whether calls take no time. */
  readonly hold: { readonly isOn: boolean };
  /** Called at the begin and end of each invocation. */
  readonly begun: () => void;
  readonly ended: (run: RunTime) => void;
}

/** The invocation under way. */
interface Invocation {
  readonly startedAt: number;
  /** Time of calls that took none, because calls were held, ms. */
  heldMs: number;
  /** Whether it is a tick that has found nothing due so far. */
  isIdle: boolean;
  /** What it has used while it was idle. */
  readonly idleUses: { readonly part: Part; readonly uses: readonly Use[] }[];
}

const isBatch = (event: unknown): event is Pick<SQSEvent, "Records"> =>
  typeof event === "object" && event !== null && "Records" in event;

/** Starts a machine with the functions, and meters at its ports. It has one invocation at a time, as in Lambda. */
export const startMeteredMachine = (
  around: MeteredSurroundings,
  target: FunctionName,
  name: string,
): Machine => {
  const { provider, totals, cpu, hold, random } = around;
  const isPoller = target === "poll-tasks";
  const account = { ms: START_CPU_MS };
  const newInvocation = (isIdle: boolean): Invocation => ({
    ...{ startedAt: around.clock.now(), heldMs: 0, isIdle, idleUses: [] },
  });
  let invocation = newInvocation(false);
  const record = (part: Part, uses: readonly Use[]): void => {
    // A tick that finds nothing due costs the same each month, however many commands there are.
    if (invocation.isIdle) invocation.idleUses.push({ part, uses });
    else totals.add(part, uses);
  };
  const endIdleness = (): void => {
    invocation.isIdle = false;
    for (const { part, uses } of invocation.idleUses.splice(0)) totals.add(part, uses);
  };
  const attribution = createAttribution(record);

  /** Sleeps; then the machine or, without an account, the cloud continues. */
  const pass = (durationMs: number, by: typeof account | undefined): Promise<void> =>
    new Promise((resolve) => {
      around.clock.after(durationMs, () => {
        cpu.step(by);
        resolve();
      });
    });

  /** A call of a port. Its work is done by others, so this machine's step ends before it. */
  const call = async <T>(kind: keyof typeof CALL_MS, work: () => Promise<T>): Promise<T> => {
    const durationMs = CALL_MS[kind];
    if (hold.isOn) invocation.heldMs += durationMs;
    const halfMs = hold.isOn ? 0 : durationMs / 2;
    const steps = hold.isOn ? Math.floor(random.fraction() * HELD_STEPS) : 0;
    for (let step = 0; step < steps; step += 1) await pass(0, undefined);
    await pass(halfMs, undefined);
    try {
      return await work();
    } finally {
      await pass(halfMs, account);
    }
  };

  const clock: Clock = {
    now: around.clock.now,
    async sleep(durationMs, signal) {
      await around.clock.sleep(durationMs, signal);
      cpu.step(account);
    },
  };

  const config = isPoller ? around.config : ownAccount("local", UNLIMITED);
  const meteredPorts = createMeteredPorts(around, {
    ...{ target, name, call, record, attribution },
    foundDue: endIdleness,
  });
  const shared = {
    ...meteredPorts,
    bus: shareCalls(meteredPorts.bus, clock),
    clock,
    random,
    log: { ...silentLog, bind: () => {} },
    metrics: countedNowhere,
    access: createAccess(config, LOCAL_SENDER),
    ownSender: LOCAL_SENDER,
    fingerprintKey: "fingerprint-key",
    runner: name,
    leaseMs: ATTEMPT_LEASE_MS,
    shards: around.shards,
  };
  const fetch = (request: Request): Promise<Response> => {
    if (isPoller) around.following.requests += 1;
    return call("provider", () => provider.fetch(request));
  };
  const own = {
    baseUrl: "https://provider.test",
    apiKey: async () => provider.apiKey,
    paths: {},
    canList: true,
    ambiguityWindowMs: 300_000,
  };
  const ports: SkyhookPorts & SkyhookConfig = {
    ...shared,
    accountOf: openAccounts(
      config,
      {
        ...{ ...shared, fetch, environment: {}, attemptTimeoutMs: ATTEMPT_TIMEOUT_MS },
        secrets: { read: async () => provider.apiKey },
      },
      own,
    ),
    thresholds: createTextSource(),
    watchlist: createTextSource(),
    eventSource: EVENT_SOURCE,
    reactions: [],
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    jobAccount: "local",
    pricePeriodMs: 3_600_000,
    aiTaskName: undefined,
  };
  const skyhook = createSkyhook(ports, ports);

  /** Time and calls of the invocation itself: one receive and one delete for a whole batch. */
  const ownUses = (event: unknown): readonly Use[] => {
    const messages = isBatch(event) ? event.Records.length : 1;
    const waitedMs = around.clock.now() - invocation.startedAt + invocation.heldMs / messages;
    const queueUnit = target === "run-commands" ? "fifoRequests" : "standardRequests";
    return [
      { unit: "invocations", amount: 1 },
      { unit: "gigabyteSeconds", amount: gigabyteSecondsOf(waitedMs, account.ms) },
      isBatch(event) ? { unit: queueUnit, amount: 2 } : { unit: "ticks", amount: 1 },
    ];
  };

  const settle = (event: unknown): RunTime => {
    cpu.stop();
    attribution.end();
    record(isPoller ? "following" : "rest", ownUses(event));
    const { ms: cpuMs } = account;
    account.ms = 0;
    return { cpuMs, waitedMs: around.clock.now() - invocation.startedAt };
  };

  const metered =
    <E, R>(handler: (event: E, context: Context) => Promise<R>) =>
    async (event: E, context: Context): Promise<R> => {
      invocation = newInvocation(isPoller && !isBatch(event));
      around.begun();
      await pass(0, account);
      try {
        return await handler(event, context);
      } finally {
        around.ended(settle(event));
      }
    };

  return createImmortalMachine({
    name,
    clock,
    skyhook: {
      ...skyhook,
      intake: metered(skyhook.intake),
      runCommands: metered(skyhook.runCommands),
      pollTasks: metered(skyhook.pollTasks),
    },
  });
};
