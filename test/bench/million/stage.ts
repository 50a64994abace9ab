import { createShards } from "../../../lib/engine/shards.ts";
import { tasks } from "../../../lib/engine/task.ts";
import { awsLimitsOf } from "../../../lib/local/aws-limits.ts";
import { openCloud } from "../../../lib/local/cloud.ts";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import { createLedgerLimits } from "../../../lib/local/dynamodb-limits.ts";
import { periodMsOf } from "../../../lib/platform/deployment.ts";
import type { Ledger, LedgerItem } from "../../../lib/platform/ports/ledger.ts";
import { toAccountsConfig } from "../../../lib/provider/accounts-config.ts";
import { silentLog } from "../../support/logs.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";
import { createCpuMeter, createTotals } from "../cost/invocation-meter.ts";
import { type RunTime, startMeteredMachine } from "../cost/metered-machine.ts";
import {
  answer,
  type Crowd,
  dueTasks,
  endedAt,
  givenItem,
  numberOf,
  shardIn,
  TASK_MS,
} from "./crowd.ts";

/** Time between the ticks of two shards, so that all do not compute at one instant. */
const TICK_EVERY_MS = 1_000;
const REQUESTS_PER_SECOND = 1_000;

/** Names that put the tasks of each account into a shard of its own. */
const accountNames = (count: number): readonly string[] => {
  const shards = createShards(count);
  const names: string[] = [];
  for (let number = 1; names.filter(Boolean).length < count; number += 1) {
    const name = `customer-${number}`;
    names[shards.of(`task#${name}/any`)] ??= name;
  }
  return names;
};

/**
 * The ledger of a stage on which the crowds' commands are under way. Items without a change are computed when
 * they are read, so the memory that is used is that of the pollers.
 */
const createCrowdLedger = (crowds: readonly Crowd[], now: () => number): Ledger => {
  const changed = new Map<string, LedgerItem>();
  /** Numbers of the tasks of each shard that are no longer due; all before the first one left. */
  const done = crowds.map(() => new Set<number>());
  const firstLeft = crowds.map(() => 0);
  const read = async (key: string): Promise<LedgerItem | undefined> => {
    const crowd =
      crowds[shardIn(key)] ?? crowds.find(({ account }) => key.startsWith(`lane#${account}/`));
    return changed.get(key) ?? (crowd && (await givenItem(crowd, key)));
  };
  return {
    read,
    async write(item) {
      const before = await read(item.key);
      if ((before?.version ?? 0) !== item.version - 1) return "conflict";
      changed.set(item.key, item);
      const isTask = item.key.startsWith(`${tasks.kind}#`);
      if (isTask && item.dueAt === undefined) done[shardIn(item.key)]?.add(numberOf(item.key));
      return "written";
    },
    async listDue(until, limit, shard = 0, from = 0) {
      const [crowd, isDone] = [crowds[shard], done[shard]];
      if (!crowd || !isDone) return [];
      let first = firstLeft[shard] ?? 0;
      while (isDone.delete(first)) first += 1;
      firstLeft[shard] = first;
      const entries = [];
      for (const { number, key, dueAt } of dueTasks(crowd, { from, until, now: now() })) {
        if (number < first || isDone.has(number)) continue;
        entries.push({ key, dueAt });
        if (entries.length === limit) break;
      }
      return entries;
    },
    list: () => Promise.resolve([]),
  };
};

export interface Stage {
  readonly totals: ReturnType<typeof createTotals>;
  /** How late each end was published, ms. */
  readonly late: number[];
  readonly runs: RunTime[];
  readonly requests: () => number;
  /** Ends the pollers. What they remember goes with the stage. */
  stop(): Promise<void>;
}

/** Opens a stage with pollers only: `shards` accounts with `open` running tasks each. */
export const openStage = async (
  clock: VirtualClock,
  { shards, open }: { readonly shards: number; readonly open: number },
): Promise<Stage> => {
  const random = createSeededRandom(5);
  const crowds = accountNames(shards).map(
    (account, shard): Crowd => ({ ...{ account, shard, open }, startsAt: clock.now() }),
  );
  const config = toAccountsConfig({
    accounts: crowds.map(({ account }) => ({
      ...{ name: account, base_url: `https://${account}.test`, api_key: { parameter: "key" } },
      ...{ senders: ["own"], requests_per_second: REQUESTS_PER_SECOND },
    })),
  });
  const store = createCrowdLedger(crowds, clock.now);
  const unlimited = { ...awsLimitsOf(), writeUnits: Infinity, readUnits: Infinity };
  const cloud = await openCloud({
    ...{ clock, random, log: silentLog, store: createMemoryStore() },
    numbers: { wake: { maximumConcurrency: shards + 1 } },
  });
  const totals = createTotals();
  const following = { requests: 0 };
  const late: number[] = [];
  const runs: RunTime[] = [];
  const crowdAt = (host: string): Crowd => {
    const crowd = crowds.find(({ account }) => host === `${account}.test`);
    if (!crowd) throw new Error(`no account at ${host}`);
    return crowd;
  };
  const around = {
    ...{ clock, random, cloud, store, totals, following, config },
    ...{ hold: { isOn: false }, cpu: createCpuMeter(), shards: createShards(shards) },
    provider: {
      apiKey: "key",
      fetch: async (request: Request) =>
        answer(crowdAt(new URL(request.url).host), request, clock.now()),
    },
    meteredLedger: createLedgerLimits({ limits: unlimited, clock, onThrottled: () => {} }),
    publish: ({ detailType, detail }: { detailType: string; detail: object }) => {
      const { account, commandId } = (detail as { metadata: Record<string, string> }).metadata;
      const crowd = crowds.find((each) => each.account === account);
      if (detailType !== "CommandSucceeded" || !crowd || !commandId) return;
      late.push(clock.now() - endedAt(crowd, commandId));
    },
    begun: () => {},
    ended: (run: RunTime) => runs.push(run),
  };
  cloud.start({
    startMachine: (target, name) => startMeteredMachine(around, target, name),
    schedules: crowds.map((_, shard) => ({
      ...{ name: "poll-tasks" as const, target: "poll-tasks" as const, shard },
      ...{ periodMs: periodMsOf("poll-tasks"), firstMs: (shard + 1) * TICK_EVERY_MS },
    })),
  });
  return {
    ...{ totals, late, runs },
    requests: () => following.requests,
    async stop() {
      const stopped = cloud.stop();
      await clock.advance(TASK_MS);
      await stopped;
    },
  };
};
