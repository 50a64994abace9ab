import type { CommandDeps } from "../../../../lib/engine/deps.ts";
import { createShards } from "../../../../lib/engine/shards.ts";
import type { Machine } from "../../../../lib/local/lambda.ts";
import { createRetryingPorts, type LimitedAws } from "../../../../lib/local/limited-aws.ts";
import { ATTEMPT_LEASE_MS, ATTEMPT_TIMEOUT_MS } from "../../../../lib/platform/deployment.ts";
import type { InvocationLog } from "../../../../lib/platform/lambda/invocation.ts";
import type { EventBus } from "../../../../lib/platform/ports/bus.ts";
import type { Log } from "../../../../lib/platform/ports/log.ts";
import type { Metrics } from "../../../../lib/platform/ports/metrics.ts";
import type { CommandQueue, Waker } from "../../../../lib/platform/ports/queue.ts";
import { createAccess } from "../../../../lib/provider/access.ts";
import { openAccounts } from "../../../../lib/provider/accounts.ts";
import { createSkyhook } from "../../../../lib/skyhook.ts";
import type { LogLine } from "../../../support/logs.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import type { VirtualClock } from "../../../support/virtual-clock.ts";
import type { Chance } from "../engine/chance.ts";
import type { Faults } from "../engine/faults.ts";
import { OWN_SENDER, STARTS_AT } from "../plan/actors.ts";
import type { Plan } from "../plan/plan.ts";
import { hostileBus } from "../ports/bus.ts";
import { type ConfigObjects, hostileConfigSource } from "../ports/config-source.ts";
import { hostileLedger } from "../ports/ledger.ts";
import { hostileProvider } from "../ports/provider.ts";
import { hostileQueue, hostileWaker } from "../ports/queues.ts";
import { hostileSecrets } from "../ports/secrets.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { ObservedLedger } from "./observed-ledger.ts";
import type { ProviderSide } from "./provider-side.ts";
import { createSandbox, type Skew } from "./sandbox.ts";

/** The environment of the machines, without faults. */
export interface Surroundings {
  readonly plan: Plan;
  readonly timeline: VirtualClock;
  readonly chance: Chance;
  readonly faults: Faults;
  /** Puts AWS's limits before ports; the queue has them already. */
  readonly aws: LimitedAws;
  readonly ledger: ObservedLedger;
  readonly bus: EventBus;
  readonly queue: CommandQueue;
  readonly waker: Waker;
  readonly provider: ProviderSide;
  readonly metrics: Metrics;
  readonly keys: ApiKeys;
  readonly lines: LogLine[];
  readonly configs: ConfigObjects;
  /** Wraps the bus of each machine. */
  readonly watchedBus: ((bus: EventBus) => EventBus) | undefined;
}

/** A machine with the composed functions, every port of which can be struck. */
export interface SimulatedMachine extends Machine {
  /** Dependencies for an operator's actions on commands. */
  readonly commands: CommandDeps;
}

export const logInto = (lines: LogLine[], bound: LogLine["fields"] = {}): Log => {
  const at =
    (level: LogLine["level"]) =>
    (message: string, fields: LogLine["fields"] = {}): void => {
      lines.push({ level, message, fields: { ...bound, ...fields } });
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => logInto(lines, { ...bound, ...fields }),
  };
};

/**
 * Clocks of two machines differ by less than a lease exceeds the time limit of its invocation: 45 s
 * less 30 s.
 */
const MAX_SKEW_MS = 6_000;

/** Starts a machine; every port of it can have faults. */
export const startMachine = (
  name: string,
  around: Surroundings,
  skew: Skew = { first: around.plan.isSkewed ? 2_000 : 0, most: MAX_SKEW_MS },
): SimulatedMachine => {
  const { timeline, chance, faults } = around;
  const { accounts, reactions, jobAccount, watchlist, pricesMs } = around.plan;
  const sandbox = createSandbox(name, { timeline, chance, faults }, skew);
  const { clock } = sandbox;
  const random = createSeededRandom(chance.between(`random ${name}`, 1, 2 ** 31));
  const { aws, watchedBus = (bus) => bus } = around;
  const retrying = createRetryingPorts({ clock, random });
  const { before = 1, after = 1, updateMs = 0 } = around.plan.shards ?? {};
  const shards = createShards(timeline.now() < STARTS_AT + updateMs ? before : after);
  const log: InvocationLog = { ...logInto(around.lines), bind: () => {} };
  const metrics: Metrics = {
    count: (...args) => sandbox.isAlive() && around.metrics.count(...args),
    measure: (...args) => sandbox.isAlive() && around.metrics.measure(...args),
  };
  const hostilePorts = {
    ledger: retrying.ledger(
      hostileLedger(aws.ledger(around.ledger.usedBy(sandbox, shards), shards.of), sandbox, {
        chance,
        history: around.ledger,
      }),
    ),
    bus: retrying.bus(watchedBus(hostileBus(aws.bus(around.bus), sandbox, chance))),
    queue: retrying.queue(hostileQueue(around.queue, sandbox)),
    waker: hostileWaker(around.waker, sandbox, around),
  };
  const fetch = hostileProvider(sandbox, {
    timeline,
    chance,
    leaves: (sent) => around.provider.leaves(sent, sandbox),
    ...around.plan.provider,
    received: (got) => around.provider.received(sandbox, got),
  });
  const shared = {
    ...hostilePorts,
    clock,
    random,
    log,
    metrics,
    access: createAccess(accounts, OWN_SENDER),
    ownSender: OWN_SENDER,
    fingerprintKey: "fingerprint-key",
  };
  const accountOf = openAccounts(accounts, {
    ...shared,
    secrets: retrying.secrets(
      hostileSecrets(aws.secrets({ read: async () => around.keys.stored() }), sandbox),
    ),
    environment: {},
    fetch: fetch,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  });
  const commands = {
    ...shared,
    accountOf,
    runner: name,
    leaseMs: ATTEMPT_LEASE_MS,
    shards,
  };
  const ports = {
    ...commands,
    thresholds: hostileConfigSource(around.configs, sandbox),
    watchlist: {
      name: "watchlist.yaml",
      read: async () => ({ text: watchlist, version: "1" }),
    },
  };
  const config = {
    ...commands,
    eventSource: "skyhook",
    reactions,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    jobAccount,
    pricePeriodMs: pricesMs,
    aiTaskName: undefined,
    manyEntries: around.plan.manyEntries,
  };
  return { ...sandbox, commands, skyhook: createSkyhook(ports, config) };
};
