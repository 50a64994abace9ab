import type { SQSEvent } from "aws-lambda";
import type { Cloud } from "../../../lib/local/cloud.ts";
import { createImmortalMachine, type Machine } from "../../../lib/local/lambda.ts";
import { createRetryingPorts, type LimitedAws } from "../../../lib/local/limited-aws.ts";
import { LOCAL_SENDER } from "../../../lib/local/local-sender.ts";
import {
  ATTEMPT_LEASE_MS,
  ATTEMPT_TIMEOUT_MS,
  type FunctionName,
  timeoutMsOf,
} from "../../../lib/platform/deployment.ts";
import type { BusEntry } from "../../../lib/platform/ports/bus.ts";
import type { Ledger, Shards } from "../../../lib/platform/ports/ledger.ts";
import type { Log } from "../../../lib/platform/ports/log.ts";
import type { Random } from "../../../lib/platform/ports/random.ts";
import { createAccess } from "../../../lib/provider/access.ts";
import { openAccounts } from "../../../lib/provider/accounts.ts";
import type { AccountsConfig } from "../../../lib/provider/accounts-config.ts";
import { createSkyhook } from "../../../lib/skyhook.ts";
import { createTextSource } from "../../support/text-source.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";
import { CALL_MS, EVENT_SOURCE } from "../cost/metered-ports.ts";

/** What all machines share. */
export interface Surroundings {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly cloud: Cloud;
  readonly aws: LimitedAws;
  /** The table, without limits. */
  readonly store: Ledger;
  readonly shards: Shards;
  readonly config: AccountsConfig;
  readonly log: Log;
  /** Gets each event that the bus has taken. */
  readonly publish: (entry: BusEntry) => void;
  /** Takes a request to the provider of its host. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly apiKey: string;
  /** Gets the number of messages of a batch that were received before. */
  readonly redelivered: (messages: number) => void;
  /** Called when an invocation has lasted longer than its function may. */
  readonly overran: () => void;
}

const isReceivedAgain = ({ attributes }: SQSEvent["Records"][number]): boolean =>
  Number(attributes.ApproximateReceiveCount) > 1;

/** Starts a machine with the functions. Its calls take time, keep AWS's limits, and are repeated as the SDK does. */
export const startMachine = (around: Surroundings, target: FunctionName, name: string): Machine => {
  const { clock, random, cloud, aws, config, shards } = around;
  const retrying = createRetryingPorts({ clock, random });
  const call = async <T>(kind: keyof typeof CALL_MS, work: () => Promise<T>): Promise<T> => {
    await clock.sleep(CALL_MS[kind] / 2);
    try {
      return await work();
    } finally {
      await clock.sleep(CALL_MS[kind] / 2);
    }
  };
  const limited = aws.ledger(around.store, shards.of);
  const bus = aws.bus({
    publish: async (entries) =>
      entries.map((entry) => {
        around.publish(entry);
        return { kind: "published" };
      }),
  });
  const ports = {
    ledger: retrying.ledger({
      read: (key) => call("ledger", () => limited.read(key)),
      write: (item) => call("ledger", () => limited.write(item)),
      listDue: (...query) => call("ledger", () => limited.listDue(...query)),
      list: (...query) => call("ledger", () => limited.list(...query)),
    }),
    bus: retrying.bus({
      publish: (entries: readonly BusEntry[]) => call("bus", () => bus.publish(entries)),
    }),
    queue: retrying.queue({
      send: (message) => call("queue", () => cloud.commandQueue.send(message)),
    }),
    waker: {
      wakeAt: (at: number, shard: number) => call("queue", () => cloud.wakeQueue.wakeAt(at, shard)),
    },
    ...{ clock, random, shards, runner: name, leaseMs: ATTEMPT_LEASE_MS },
    log: { ...around.log, bind: () => {} },
    metrics: { count: () => {}, measure: () => {} },
    access: createAccess(config, LOCAL_SENDER),
    ownSender: LOCAL_SENDER,
    fingerprintKey: "fingerprint-key",
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  };
  const accountOf = openAccounts(config, {
    ...ports,
    secrets: retrying.secrets(aws.secrets({ read: async () => around.apiKey })),
    environment: {},
    fetch: (request) => call("provider", () => around.fetch(request)),
  });
  const whole = {
    ...{ ...ports, accountOf, eventSource: EVENT_SOURCE, reactions: [] },
    ...{ thresholds: createTextSource(), watchlist: createTextSource() },
    ...{ jobAccount: "none", pricePeriodMs: 3_600_000, aiTaskName: undefined },
  };
  const skyhook = createSkyhook(whole, whole);

  const watched =
    <E, C, R>(handler: (event: E, context: C) => Promise<R>) =>
    async (event: E, context: C): Promise<R> => {
      const startedAt = clock.now();
      const records = (event as Partial<SQSEvent>).Records ?? [];
      if (target !== "poll-tasks") around.redelivered(records.filter(isReceivedAgain).length);
      try {
        return await handler(event, context);
      } finally {
        if (clock.now() - startedAt > timeoutMsOf(target)) around.overran();
      }
    };

  return createImmortalMachine({
    ...{ name, clock },
    skyhook: {
      ...skyhook,
      intake: watched(skyhook.intake),
      runCommands: watched(skyhook.runCommands),
      pollTasks: watched(skyhook.pollTasks),
    },
  });
};
