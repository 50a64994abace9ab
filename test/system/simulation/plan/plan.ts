import { readReactions } from "../../../../lib/intake/config-files.ts";
import type { Reaction } from "../../../../lib/intake/reaction.ts";
import type { AwsLimits } from "../../../../lib/local/aws-limits.ts";
import { deployment } from "../../../../lib/platform/deployment.ts";
import type { Clock } from "../../../../lib/platform/ports/clock.ts";
import { type AccountsConfig, toAccountsConfig } from "../../../../lib/provider/accounts-config.ts";
import type { State } from "../../../../lib/service/state/state.ts";
import type { Fetch } from "../../../support/provider.ts";
import { type Chance, createChance } from "../engine/chance.ts";
import type { Weather } from "../engine/faults.ts";
import { B, BASE_URLS, BLIND, LOCAL, NARROW_SENDER, OTHER_SENDER } from "./actors.ts";
import { type ConfigVersion, configsOf } from "./configs.ts";
import { CALM_SHARD_COUNT, type Crowd, type CrowdKind, crowdOf, stateOf } from "./crowd.ts";
import { type Input, isOnStorageEvent, REACTION } from "./deeds.ts";
import { inputsOf } from "./inputs.ts";
import { limitsOf } from "./limits.ts";
import { type Situation, situationOf } from "./situations.ts";
import { weatherOf } from "./weather.ts";

/** Short, so that a run does not last for hours, but as long as the differences of clocks require. */
export const AMBIGUITY_WINDOW_MS = 90_000;
const DEADLINE_MS = 20 * 60_000;
/** A thousand commands of one lane, one after the other. */
const CROWDED_DEADLINE_MS = 60 * 60_000;
/** Part of the runs with hardly any fault. What following may cost is checked in those only. */
const FAIR_SHARE = 0.1;
const CROWDED_FAIR_SHARE = 0.1;
const SKEWED_SHARE = 0.3;
/** More often, because a query of what is new may miss what a slow clock has written. */
const CALM_SKEWED_SHARE = 0.6;

/** How a provider behaves in some runs, and the faults that go with it. */
interface Provider {
  readonly habits: Pick<ProviderPlan, "replyMs" | "pauseSeconds">;
  readonly weather: Weather;
}
const USUAL: Provider = { habits: {}, weather: {} };
/** Answers cross each other. */
const SLOW_REPLIES: Provider = {
  habits: { replyMs: 3_000 },
  weather: { "401": 0.12, "429": 0.1, "429 for long": 0.05 },
};
/** Pauses outlast the lease of a sync. */
const LONG_PAUSES: Provider = {
  habits: { pauseSeconds: [130, 200] },
  weather: { "429 for long": 0.3 },
};
/** A process that waits for permits learns of a pause from the slow answer to an earlier request. */
const SHORT_PAUSES: Provider = { habits: { replyMs: 200 }, weather: { "429": 0.2 } };
const SLOW_SHARE = 0.1;
const LONG_PAUSE_SHARE = 0.05;

const providerOf = (
  chance: Chance,
  crowd: Crowd | undefined,
  situation: Situation | undefined,
): Provider => {
  if (crowd?.kind === "paused") return SHORT_PAUSES;
  if (situation) return USUAL;
  if (chance.happens("long pauses", LONG_PAUSE_SHARE)) return LONG_PAUSES;
  return chance.happens("slow replies", SLOW_SHARE) ? SLOW_REPLIES : USUAL;
};

/** Period of price snapshots, shorter than deployed so that a run has several. */
const PRICES_MS = 2 * 60_000;
/** Difference of the provider's clock, ms. */
const MAX_SKEW_MS = 15_000;
const { maxReceiveCount } = deployment.queues.commands;
/** Mostly the deployed number; sometimes so few that messages become dead letters. */
const MAX_RECEIVE_COUNTS = [maxReceiveCount, maxReceiveCount, 2];

/** The provider at the start of a run. */
export interface ProviderPlan {
  readonly state: State;
  /** Duration of a background task, ms. */
  readonly taskMs: number;
  /** Longest time of a response on its way, ms; absent: none. */
  readonly replyMs?: number;
  /** Shortest and longest pause that it asks for, s; absent: 1 and 40. */
  readonly pauseSeconds?: readonly [number, number];
  /** Difference of its clock, ms. */
  readonly skewMs: number;
  /** Tasks of other clients, if there are many. */
  readonly crowd?: Crowd | undefined;
  /** Wraps the requests to the service. */
  readonly between?: ((service: Fetch, clock: Clock) => Fetch) | undefined;
}

/** Shards of the due index, which an update of the stage changes. Machines that run then keep their number. */
interface ShardsPlan {
  readonly before: number;
  readonly after: number;
  /** Instant of the update, ms from the start. */
  readonly updateMs: number;
}

const SHARDED_SHARE = 0.2;
/** More often in a run with hardly any fault, in which a poller that is woken for the wrong shard is late. */
const FAIR_SHARDED_SHARE = 0.7;

/** In a calm crowd the number stays, because two pollers cost more requests while it changes. */
const CALM_SHARDS: ShardsPlan = { before: CALM_SHARD_COUNT, after: CALM_SHARD_COUNT, updateMs: 0 };
/** Then signals of several shards often come together. */
const CALM_WAKES_MS = 500;

/**
 * Part of the runs in which the poller takes any entries for many, and queries only what may be new. Not in runs with
 * hardly any fault, because an entry that is due early then waits for up to a minute.
 */
const FEW_ARE_MANY_SHARE = 0.3;
const CALM_FEW_ARE_MANY_SHARE = 0.6;

const shardsOf = (chance: Chance, weather: Weather): ShardsPlan | undefined =>
  chance.happens("sharded", Object.keys(weather).length > 1 ? SHARDED_SHARE : FAIR_SHARDED_SHARE)
    ? {
        before: chance.pick("shards before", [1, 1, 2, 4]),
        after: chance.pick("shards after", [1, 2, 3]),
        updateMs: chance.between("update of the stage", 0, 4 * 60_000),
      }
    : undefined;

/** Not with hardly any fault, unless the crowd is calm: see `FEW_ARE_MANY_SHARE`. */
const manyEntriesOf = (chance: Chance, crowd: Crowd | undefined, weather: Weather) => {
  if (crowd?.kind === "lagging") return 0;
  const isCalm = crowd?.kind === "calm";
  const isPossible = isCalm || Object.keys(weather).length > 1;
  const share = isCalm ? CALM_FEW_ARE_MANY_SHARE : FEW_ARE_MANY_SHARE;
  return isPossible && chance.happens("few are many", share) ? 0 : undefined;
};

/** Everything that a run is made of; who decides about its faults comes apart. */
export interface Plan {
  /** Draws what the plan leaves open, such as the duration of each call. */
  readonly chance: Chance;
  /** The fault profile: of the tasks always, and of all else if the seed decides. */
  readonly weather: Weather;
  readonly accounts: AccountsConfig;
  readonly reactions: readonly Reaction[];
  /** The workload: inputs and versions of the thresholds config, each at its time. */
  readonly inputs: readonly Input[];
  readonly versions: readonly ConfigVersion[];
  /**
   * Bucket with a threshold of another client at the start. The last config wants it: without a list, no sync could
   * delete it.
   */
  readonly formerThreshold?: string | undefined;
  readonly provider: ProviderPlan;
  /** Account of the scheduled jobs. */
  readonly jobAccount: string;
  /** Text of the watchlist of prices. */
  readonly watchlist: string;
  /** Period of price snapshots, ms. */
  readonly pricesMs: number;
  /** A command's message that was received so often becomes a dead letter. */
  readonly maxReceiveCount: number;
  /** Limits of AWS until the faults end; absent: those that AWS documents. */
  readonly limits?: AwsLimits | undefined;
  /** Whether the clocks of machines differ. */
  readonly isSkewed: boolean;
  /** Absent: one. */
  readonly shards?: ShardsPlan | undefined;
  /** Wake signals become visible at multiples of this time, ms. */
  readonly wakesMs?: number | undefined;
  /** See `PollerDeps`. */
  readonly manyEntries?: number | undefined;
}

const WATCHLIST = `items:
  - name: ddos
    ddos: {region_id: 76}
  - name: cluster
    k8s_cluster: {project_id: 1234567, region_id: 76, cluster_name: my-cluster}
`;

const accountsOf = (requestsPerSecond: number, deadlineMs: number): AccountsConfig => {
  const shared = {
    api_key: { parameter: "/key" },
    requests_per_second: requestsPerSecond,
    settle: AMBIGUITY_WINDOW_MS,
    deadlines: { default: deadlineMs },
  };
  const narrow = { sender: NARROW_SENDER, projects: [B.project_id] };
  return toAccountsConfig({
    accounts: [
      {
        ...shared,
        name: LOCAL,
        base_url: BASE_URLS[LOCAL],
        senders: ["own", OTHER_SENDER, narrow],
      },
      {
        ...shared,
        name: BLIND,
        base_url: BASE_URLS[BLIND],
        senders: ["own", OTHER_SENDER],
        lists: false,
      },
    ],
  });
};

const REACTIONS = `
reactions:
  - name: ${REACTION}
    when: { source: [billing], detail-type: [InvoicePaid] }
    account: ${LOCAL}
    then:
      operation: resume-instance
      params: { project_id: $.detail.project_id, region_id: $.detail.region_id, instance_id: $.detail.instance_id }
`;

const reactionsFor = (accounts: AccountsConfig): readonly Reaction[] => {
  const read = readReactions(REACTIONS, { accounts, eventSource: "skyhook" });
  if (read.kind === "invalid") throw new Error("the simulation's reactions are invalid");
  return read.value;
};

/** Faults of crowds that are alone. */
const WEATHER_ALONE: Partial<Record<CrowdKind, Weather>> = {
  calm: {},
  paused: {},
  lagging: { "query incomplete": 0.4 },
};

/** A crowd without other commands; undefined: they are drawn. */
const aloneOf = ({ kind, inputs }: Crowd): Situation | undefined => {
  const weather = WEATHER_ALONE[kind];
  return weather && { inputs, weather };
};

/**
 * The plan of a seed.
 * @param parts only the inputs and config versions with these ids; absent: all
 */
export const planOf = (seed: number, parts?: ReadonlySet<string>): Plan => {
  const chance = createChance(seed);
  const crowd = crowdOf(chance);
  const accounts = accountsOf(
    crowd?.requestsPerSecond ?? chance.pick("budget", [2, 5, 20]),
    crowd ? CROWDED_DEADLINE_MS : DEADLINE_MS,
  );
  const situation = crowd ? aloneOf(crowd) : situationOf(chance);
  const provider = providerOf(chance, crowd, situation);
  const inputs = situation?.inputs ?? [...inputsOf(chance), ...(crowd?.inputs ?? [])];
  const versions = configsOf(
    chance,
    !situation && !inputs.some(isOnStorageEvent),
    provider !== USUAL,
  );
  const weather = situation?.weather ?? weatherOf(chance, crowd ? CROWDED_FAIR_SHARE : FAIR_SHARE);
  // Leaving inputs out changes nothing about the rest.
  const isKept = ({ id }: { readonly id: string }): boolean => !parts || parts.has(id);
  return {
    chance,
    weather: { ...weather, ...provider.weather },
    accounts,
    reactions: reactionsFor(accounts),
    inputs: inputs.filter(isKept),
    versions: versions.filter(isKept),
    formerThreshold: chance.happens("former threshold", 0.5)
      ? versions.at(-1)?.wanted?.[0]?.bucket_name
      : undefined,
    provider: {
      state: stateOf(crowd),
      crowd,
      // A list pays while several tasks run at once.
      taskMs:
        situation?.taskMs ?? chance.pick("task duration", [crowd ? 20_000 : 1_500, 8_000, 40_000]),
      ...provider.habits,
      skewMs: chance.between("skew provider", -MAX_SKEW_MS, MAX_SKEW_MS),
    },
    // A sync of the other account cannot begin during a pause: it lists the thresholds first.
    jobAccount: provider === LONG_PAUSES ? BLIND : chance.pick("jobs of", [LOCAL, LOCAL, BLIND]),
    watchlist: WATCHLIST,
    pricesMs: PRICES_MS,
    maxReceiveCount: chance.pick("receives", MAX_RECEIVE_COUNTS),
    manyEntries: manyEntriesOf(chance, crowd, weather),
    ...(crowd?.kind === "calm"
      ? {
          isSkewed: chance.happens("skewed", CALM_SKEWED_SHARE),
          ...(crowd.isSharded && { shards: CALM_SHARDS, wakesMs: CALM_WAKES_MS }),
        }
      : {
          limits: limitsOf(chance),
          isSkewed: chance.happens("skewed", SKEWED_SHARE),
          shards: shardsOf(chance, weather),
        }),
  };
};
