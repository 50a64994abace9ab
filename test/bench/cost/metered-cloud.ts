import { createShards } from "../../../lib/engine/shards.ts";
import { awsLimitsOf } from "../../../lib/local/aws-limits.ts";
import { openCloud } from "../../../lib/local/cloud.ts";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import { createLedgerLimits } from "../../../lib/local/dynamodb-limits.ts";
import { LOCAL_SENDER } from "../../../lib/local/local-sender.ts";
import type { FunctionName } from "../../../lib/platform/deployment.ts";
import { periodMsOf } from "../../../lib/platform/deployment.ts";
import type { BusEntry } from "../../../lib/platform/ports/bus.ts";
import { ownAccount } from "../../../lib/provider/accounts-config.ts";
import { silentLog } from "../../support/logs.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";
import { createCpuMeter, createTotals } from "./invocation-meter.ts";
import { createLargeLedger } from "./ledger.ts";
import { startMeteredMachine } from "./metered-machine.ts";
import type { Provider } from "./provider.ts";
import { type OperationName, requestData } from "./provider.ts";

/** The first tick of the poller's schedule after the start. */
const FIRST_TICK_MS = 30_000;

const ENDS: ReadonlySet<string> = new Set([
  "CommandSucceeded",
  "CommandFailed",
  "CommandCancelled",
]);
const DAY_MS = 24 * 60 * 60 * 1_000;

const unlimited = { ...awsLimitsOf(), writeUnits: Infinity, readUnits: Infinity };

export interface MeteredCloudOptions {
  readonly clock: VirtualClock;
  readonly provider: Provider;
  readonly operation: OperationName;
  /** Rate limit of the poller's requests. */
  readonly requestsPerSecond: number;
}

/** An end of a command that was published. */
export interface PublishedEnd {
  readonly number: number;
  readonly at: number;
}

const commandIdOf = ({ detail }: BusEntry): unknown =>
  (detail.metadata as { readonly commandId?: unknown } | undefined)?.commandId;

/** The deployed functions with their queues, schedule and ledger on virtual time, and meters at all ports. */
export const openMeteredCloud = async (options: MeteredCloudOptions) => {
  const { clock, provider, operation, requestsPerSecond } = options;
  const random = createSeededRandom(3);
  const store = createLargeLedger();
  const cloud = await openCloud({ clock, random, log: silentLog, store: createMemoryStore() });
  const totals = createTotals();
  const numbers = new Map<string, number>();
  const ends: PublishedEnd[] = [];
  const failures: string[] = [];
  const following = { requests: 0 };
  const hold = { isOn: false };
  let underWay = 0;

  const note = (entry: BusEntry): void => {
    const number = numbers.get(String(commandIdOf(entry)));
    if (!ENDS.has(entry.detailType) || number === undefined) return;
    if (entry.detailType !== "CommandSucceeded") failures.push(JSON.stringify(entry.detail));
    ends.push({ number, at: clock.now() });
  };

  const shared = {
    ...{ clock, cloud, totals, provider, hold, following },
    random,
    cpu: createCpuMeter(),
    shards: createShards(1),
    config: ownAccount("local", requestsPerSecond),
    meteredLedger: createLedgerLimits({ limits: unlimited, clock, onThrottled: () => {} }),
    store,
    publish: note,
    begun: (): void => {
      underWay += 1;
    },
    ended: (): void => {
      underWay -= 1;
    },
  };
  cloud.start({
    startMachine: (target: FunctionName, name: string) => startMeteredMachine(shared, target, name),
    schedules: [
      {
        ...{ name: "poll-tasks", target: "poll-tasks" },
        ...{ periodMs: periodMsOf("poll-tasks"), firstMs: FIRST_TICK_MS },
      },
    ],
  });

  return {
    totals,
    ends: (): readonly PublishedEnd[] => ends,
    /** Commands that failed, as their events say. */
    failures: (): readonly string[] => failures,
    /** Requests of the poller to the provider so far. */
    followingRequests: (): number => following.requests,
    /** Whether messages of commands wait, or an invocation is under way. */
    isBusy: (): boolean => cloud.isBusy() || underWay > 0,
    /** Sends the request of the resource with this number, as a rule of the bus does. */
    async send(number: number): Promise<void> {
      const commandId = random.uuid();
      numbers.set(commandId, number);
      const now = clock.now();
      // Longer than the longest task.
      const deadline = new Date(now + DAY_MS).toISOString();
      const id = random.uuid();
      const event = {
        ...{ version: "0", id, "detail-type": "CommandRequested", source: "team" },
        ...{ account: LOCAL_SENDER, region: "us-east-1", resources: [] },
        time: `${new Date(now).toISOString().slice(0, 19)}Z`,
        detail: { metadata: { commandId }, data: { ...requestData(operation, number), deadline } },
      };
      totals.add("rest", [
        { unit: "requestEvents", amount: 1 },
        { unit: "standardRequests", amount: 1 },
      ]);
      await cloud.put(event, id);
    },
    /** From now on, port calls take no time; their time is charged all the same. */
    hold(): void {
      hold.isOn = true;
    },
    /** Port calls take their time again. */
    release(): void {
      hold.isOn = false;
    },
  };
};
