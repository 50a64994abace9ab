import type { Cloud } from "../../../lib/local/cloud.ts";
import type { UsedUnits } from "../../../lib/local/dynamodb-limits.ts";
import type { FunctionName } from "../../../lib/platform/deployment.ts";
import { type BusEntry, type EventBus, eventBytes } from "../../../lib/platform/ports/bus.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import type { CommandQueue, Waker } from "../../../lib/platform/ports/queue.ts";
import { type createAttribution, type Part, type Use, usesOf } from "./attribution.ts";

/**
 * Time of one call, ms of virtual time: assumptions about AWS and about the provider, from request to answer. The time
 * of an invocation consists mostly of them.
 */
export const CALL_MS = { ledger: 5, queue: 10, bus: 20, provider: 50 };

/** EventBridge bills an event for each 64 kB. */
const EVENT_BYTES = 64 * 1_024;
export const EVENT_SOURCE = "skyhook";

/**
 * Own key for the rate limit of each machine of the other functions, so that a scenario's limit covers the requests of
 * following only, and no machine waits for another one while calls take no time.
 */
const keyFor = ({ target, name }: Pick<Caller, "target" | "name">, key: string): string =>
  target !== "poll-tasks" && key.startsWith("budget#") ? `${key}/${name}` : key;

/** AWS, which all machines share. */
export interface MeteredAws {
  readonly cloud: Cloud;
  readonly store: Ledger;
  /** Puts a meter before the store. */
  readonly meteredLedger: (ledger: Ledger, onUsed: (used: UsedUnits) => void) => Ledger;
  /** Gets every published event. */
  readonly publish: (entry: BusEntry) => void;
}

/** The machine that calls. */
export interface Caller {
  readonly target: FunctionName;
  readonly name: string;
  /** Lets the time of a call pass around its work. */
  readonly call: <T>(kind: keyof typeof CALL_MS, work: () => Promise<T>) => Promise<T>;
  readonly record: (part: Part, uses: readonly Use[]) => void;
  /** Of the poller's runs. */
  readonly attribution: ReturnType<typeof createAttribution>;
  /** Called when a due query has found anything. */
  readonly foundDue: () => void;
}

const createMeteredLedger = ({ store, meteredLedger }: MeteredAws, caller: Caller): Ledger => {
  const { target, call, record, attribution, foundDue } = caller;
  const isPoller = target === "poll-tasks";
  let used: UsedUnits[] = [];
  const ledger = meteredLedger(store, (units) => used.push(units));
  const take = (): readonly Use[] => {
    const uses = usesOf(used);
    used = [];
    return uses;
  };
  return {
    read: (given) =>
      call("ledger", async () => {
        const key = keyFor(caller, given);
        const item = await ledger.read(key);
        if (isPoller) attribution.read(key, item, take());
        else record("rest", take());
        return item && { ...item, key: given };
      }),
    write: (given) =>
      call("ledger", async () => {
        const item = { ...given, key: keyFor(caller, given.key) };
        const answer = await ledger.write(item);
        if (isPoller) attribution.wrote(item, take());
        else record("rest", take());
        return answer;
      }),
    listDue: (...query) =>
      call("ledger", async () => {
        const entries = await ledger.listDue(...query);
        if (entries.length > 0) foundDue();
        attribution.queried(take());
        return entries;
      }),
    list: ledger.list,
  };
};

/** The ports of a machine to AWS. Each call takes its time, and is recorded. */
export const createMeteredPorts = (
  aws: MeteredAws,
  caller: Caller,
): {
  readonly ledger: Ledger;
  readonly queue: CommandQueue;
  readonly waker: Waker;
  readonly bus: EventBus;
} => {
  const { call, record } = caller;
  return {
    ledger: createMeteredLedger(aws, caller),
    queue: {
      send: (message) =>
        call("queue", async () => {
          record("rest", [{ unit: "fifoRequests", amount: 1 }]);
          await aws.cloud.commandQueue.send(message);
        }),
    },
    waker: {
      wakeAt: (at, shard) =>
        call("queue", async () => {
          record("following", [{ unit: "standardRequests", amount: 1 }]);
          await aws.cloud.wakeQueue.wakeAt(at, shard);
        }),
    },
    bus: {
      publish: (entries) =>
        call("bus", async () => {
          for (const entry of entries) {
            const bytes = eventBytes(EVENT_SOURCE, entry.detailType, JSON.stringify(entry.detail));
            record("rest", [{ unit: "publishes", amount: Math.ceil(bytes / EVENT_BYTES) }]);
            aws.publish(entry);
          }
          return entries.map(() => ({ kind: "published" }));
        }),
    },
  };
};
