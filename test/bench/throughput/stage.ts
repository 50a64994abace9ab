import { createShards } from "../../../lib/engine/shards.ts";
import { type AwsLimits, awsLimitsOf } from "../../../lib/local/aws-limits.ts";
import { openCloud } from "../../../lib/local/cloud.ts";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import { createLimitedAws } from "../../../lib/local/limited-aws.ts";
import { LOCAL_SENDER } from "../../../lib/local/local-sender.ts";
import { periodMsOf } from "../../../lib/platform/deployment.ts";
import type { BusEntry } from "../../../lib/platform/ports/bus.ts";
import type { Log, LogFields } from "../../../lib/platform/ports/log.ts";
import { toAccountsConfig } from "../../../lib/provider/accounts-config.ts";
import { silentLog } from "../../support/logs.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";
import { createLargeLedger } from "../cost/ledger.ts";
import { openProvider, type Provider, requestData } from "../cost/provider.ts";
import { startMachine } from "./machine.ts";
import { createTally } from "./tally.ts";

const OPERATION = "update-container";
const TICK_EVERY_MS = 1_000;
const SEND_AGAIN_MS = 1_000;

export interface StageOptions {
  readonly clock: VirtualClock;
  readonly accounts: number;
  /** Rate limit of each account, requests/s. */
  readonly requestsPerSecond: number;
  /** Commands to each account, each on a resource of its own. */
  readonly commandsEach: number;
  readonly taskMs: number;
  /** Stage parameters. */
  readonly dueShards: number;
  readonly intakeMaximumConcurrency: number;
  readonly runCommandsMaximumConcurrency: number;
  /** Limits of AWS other than the documented ones. */
  readonly limits?: Partial<AwsLimits> | undefined;
}

/** An account at a provider of its own. */
interface AccountSide {
  readonly name: string;
  readonly provider: Provider;
  /** Number of mutations that took effect. */
  mutations: number;
}

const hostOf = (account: string): string => `${account}.test`;

/** What EventBridge makes of a sender's entry. */
const requestEvent = ({ detailType, detail, time, deduplicationId }: BusEntry) => ({
  ...{ version: "0", id: deduplicationId, "detail-type": detailType, source: "team", detail },
  time: `${new Date(time).toISOString().slice(0, 19)}Z`,
  ...{ account: LOCAL_SENDER, region: "us-east-1", resources: [] },
});

/** Opens a stage with the deployed functions, its accounts' providers, and AWS's limits, on virtual time. */
export const openStage = async (options: StageOptions) => {
  const { clock, dueShards, requestsPerSecond, commandsEach, taskMs } = options;
  const random = createSeededRandom(9);
  const shards = createShards(dueShards);
  const throttled = new Map<string, number>();
  const add = (counts: Map<string, number>, name: string, count = 1): void => {
    counts.set(name, (counts.get(name) ?? 0) + count);
  };
  const aws = createLimitedAws({ ...awsLimitsOf(), ...options.limits }, clock, (limit) =>
    add(throttled, limit),
  );
  const cloud = await openCloud({
    ...{ clock, random, aws, log: silentLog, store: createMemoryStore() },
    numbers: {
      requests: { maximumConcurrency: options.intakeMaximumConcurrency },
      commands: { maximumConcurrency: options.runCommandsMaximumConcurrency },
      wake: { maximumConcurrency: dueShards + 1 },
    },
  });
  const sides = await Promise.all(
    Array.from({ length: options.accounts }, async (_, index): Promise<AccountSide> => {
      const own = { clock, operation: OPERATION, resources: commandsEach, taskMs } as const;
      return { name: `customer-${index + 1}`, provider: await openProvider(own), mutations: 0 };
    }),
  );
  const [first] = sides;
  if (!first) throw new Error("a stage without accounts");
  const byHost = new Map(sides.map((side) => [hostOf(side.name), side]));

  const fetchFrom = async (request: Request): Promise<Response> => {
    const side = byHost.get(new URL(request.url).host);
    if (!side) throw new Error(`no account at ${request.url}`);
    const response = await side.provider.fetch(request);
    if (request.method === "PATCH" && response.ok) side.mutations += 1;
    return response;
  };

  const tally = createTally(clock.now);
  const trouble = { redeliveries: 0, overruns: 0 };
  /** Log lines from warnings on. */
  const logged = new Map<string, number>();
  const note = (text: string, { errorMessage = "" }: LogFields = {}): void =>
    add(logged, `${text} ${errorMessage}`);
  const log: Log = { ...silentLog, warn: note, error: note, with: () => log };
  const around = {
    ...{ clock, random, cloud, aws, shards, fetch: fetchFrom, publish: tally.publish },
    store: createLargeLedger(shards.of),
    apiKey: first.provider.apiKey,
    config: toAccountsConfig({
      accounts: sides.map(({ name }) => ({
        ...{ name, base_url: `https://${hostOf(name)}`, api_key: { parameter: name } },
        ...{ senders: ["own"], requests_per_second: requestsPerSecond },
      })),
    }),
    log,
    redelivered: (messages: number) => {
      trouble.redeliveries += messages;
    },
    overran: () => {
      trouble.overruns += 1;
    },
  };
  /** The bus with its rule for requests. */
  const requests = aws.bus({
    publish: (entries) =>
      Promise.all(
        entries.map(async (entry) => {
          await cloud.put(requestEvent(entry), entry.deduplicationId);
          return { kind: "published" };
        }),
      ),
  });
  cloud.start({
    startMachine: (target, name) => startMachine(around, target, name),
    schedules: Array.from({ length: dueShards }, (_, shard) => ({
      ...{ name: "poll-tasks" as const, target: "poll-tasks" as const, shard },
      ...{ periodMs: periodMsOf("poll-tasks"), firstMs: (shard + 1) * TICK_EVERY_MS },
    })),
  });

  return {
    ...{ tally, sides, throttled, trouble, logged },
    deadLetters: (): number =>
      cloud.commandQueue.deadLetters().length + cloud.requestQueue.deadLetters().length,
    /**
     * Sends the request for a resource, numbered from 1, of an account, by the bus of the stage's AWS account. A sender
     * repeats what the bus does not take.
     */
    async send(account: number, number: number): Promise<void> {
      const { name } = sides[account] ?? first;
      const commandId = `${name}-${number}`;
      tally.sent(commandId);
      const data = { ...requestData(OPERATION, number), account: name };
      const request: BusEntry = {
        ...{ detailType: "CommandRequested", detail: { metadata: { commandId }, data } },
        ...{ time: clock.now(), groupId: commandId, deduplicationId: random.uuid() },
      };
      const isTaken = async (): Promise<boolean> =>
        (await requests.publish([request])).every(({ kind }) => kind === "published");
      while (!(await isTaken())) await clock.sleep(SEND_AGAIN_MS);
    },
    stop: cloud.stop,
  };
};
