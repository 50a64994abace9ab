import { builtInState, type State } from "../../../../lib/service/state/state.ts";
import type { Chance } from "../engine/chance.ts";
import { A, B, BLIND, LOCAL, NARROW_SENDER, OTHER_SENDER, OWN_SENDER } from "./actors.ts";
import type { Asked } from "./deeds.ts";
import type { RequestData } from "./requests.ts";

/** Part of the seeds with a crowd: it costs several times the CPU of a run without one. */
const SHARE = 0.07;
/** Part of those in which nothing fails and nothing else happens: what following may cost is checked there. */
const CALM_SHARE = 0.55;
/** Part of those with shards of the due index, and with tasks of two accounts. */
const CALM_SHARDED_SHARE = 0.3;
/** The two accounts are in two of four shards; of three they would share one. */
export const CALM_SHARD_COUNT = 4;
/** Parts of the others. */
const PAUSED_SHARE = 0.2;
const LAGGING_SHARE = 0.25;
const LANE_SHARE = 0.1;
/** More than a lane holds, so that the last ones are rejected. */
const LANE_COMMANDS = 1_000;
const FOLLOWED_TWICE = 0.1;
const MINUTE_MS = 60_000;
const OLDEST_MS = -10 * 60 * MINUTE_MS;

/** A task of another client, in the lists of our account. */
export interface ForeignTask {
  readonly id: string;
  /** When it was created, begins and ends, ms after the start. */
  readonly createdMs: number;
  readonly begunMs: number;
  readonly endsMs: number;
  readonly end: "FINISHED" | "ERROR";
  readonly project: number;
}

/**
 * `calm`: nothing fails, and no other command runs. `paused`, `lagging`: nor does it then, but the provider asks for
 * pauses, or the due index lags. `lane`: many commands in one lane. `stormy`: everything may happen.
 */
export type CrowdKind = "calm" | "paused" | "lagging" | "lane" | "stormy";

/** Many tasks at once, of our commands and of other clients, or many commands in one lane. */
export interface Crowd {
  readonly inputs: readonly Asked[];
  /** In the order of their creation. */
  readonly foreign: readonly ForeignTask[];
  /** Names of the containers that the commands update, one each. */
  readonly containers: readonly string[];
  readonly kind: CrowdKind;
  /** Whether a calm run has several shards of the due index. */
  readonly isSharded: boolean;
  /** Rate limit of each account. */
  readonly requestsPerSecond: number;
  /** Whether the provider refuses lists to our key. */
  readonly isListRefused: boolean;
  /** How late a list shows a new task, and leaves an ended one out, ms. */
  readonly lagMs: { readonly start: number; readonly end: number };
  /** Whether a list shows an ended task that it still has as ended, or as running. */
  readonly showsEnded: boolean;
}

/**
 * Half of them began long ago; the others begin while our commands do.
 * @param lastMinutes when the last one ends
 */
const foreignOf = (chance: Chance, count: number, lastMinutes: number): readonly ForeignTask[] =>
  Array.from({ length: count }, (_, index): ForeignTask => {
    const id = `f0000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
    const part = chance.fraction(`foreign ${index}`);
    const createdMs =
      part < 0.5
        ? Math.round(OLDEST_MS * (1 - 2 * part))
        : Math.round((2 * part - 1) * 2.5 * MINUTE_MS - MINUTE_MS / 2);
    const endsMs =
      2 * MINUTE_MS + Math.round(chance.fraction(`ends ${index}`) * (lastMinutes - 2) * MINUTE_MS);
    const end = index % 9 === 0 ? "ERROR" : "FINISHED";
    const { project_id: project } = index % 2 === 0 ? A : B;
    const begunMs = createdMs + (index % 4 === 0 ? MINUTE_MS : 0);
    return { id, createdMs, begunMs, endsMs, end, project };
  }).sort((a, b) => a.createdMs - b.createdMs);

const ask = (
  id: string,
  afterMs: number,
  data: RequestData,
  sender: string = OWN_SENDER,
): Asked => ({
  id,
  afterMs,
  deed: { kind: "request", way: sender === OWN_SENDER ? "queue" : "bus" },
  asking: { sender, commandId: id, data },
});

const laneOf = (chance: Chance): readonly Asked[] =>
  Array.from({ length: LANE_COMMANDS }, (_, index) => {
    const id = `l${index + 1}`;
    return ask(id, chance.between(`when ${id}`, 0, 20_000), {
      operation: "update-policy",
      account: LOCAL,
      params: { ...A, policy_id: 1 },
      body: { name: `policy-${id}` },
    });
  });

/** What is drawn for a crowd. */
interface Habits {
  /** The accounts of its commands: enough tasks of one account pay for a list, if it has one. */
  readonly accounts: readonly (readonly string[])[];
  /** Number of updates, and of tasks that are followed with or without them. */
  readonly updates: readonly number[];
  readonly followsBeside: readonly number[];
  readonly followsAlone: readonly number[];
  /** Number of tasks of other clients. */
  readonly foreign: readonly number[];
  /** All requests arrive within this time, ms. */
  readonly withinMs: readonly number[];
  /** When the last task of another client ends, minutes. */
  readonly lastMinutes: readonly number[];
  readonly requestsPerSecond: readonly number[];
}

const STORMY: Habits = {
  accounts: [[LOCAL], [LOCAL], [LOCAL], [LOCAL, LOCAL, LOCAL, BLIND], [LOCAL, BLIND], [BLIND]],
  updates: [0, 10, 15, 20, 40],
  followsBeside: [0, 0, 10],
  followsAlone: [12, 20, 40],
  foreign: [950, 2_400, 4_500, 12_000],
  withinMs: [5_000, 15_000, 45_000],
  lastMinutes: [14],
  requestsPerSecond: [5, 20, 50],
};

/** Tasks that are read one by one: the process waits for permits most of the time. */
const PAUSED: Habits = {
  ...STORMY,
  accounts: [[BLIND]],
  updates: [0],
  followsAlone: [20],
  requestsPerSecond: [2, 5],
};

/** Many tasks that are read one by one keep a run of the poller at work, and 150 are not queried again each time. */
const CALM: Habits = {
  accounts: [[LOCAL], [LOCAL], [BLIND]],
  updates: [0, 0, 20, 40, 40],
  followsBeside: [0, 0, 10],
  followsAlone: [12, 20, 150],
  foreign: STORMY.foreign,
  withinMs: [15_000, 45_000],
  lastMinutes: [14, 50],
  requestsPerSecond: [20, 50],
};

/** Tasks that outlast many queries of the due index. */
const LAGGING: Habits = {
  ...CALM,
  accounts: [[LOCAL]],
  updates: [0],
  followsAlone: [20],
  foreign: [950],
  lastMinutes: [50],
};

const NO_TASKS: Habits = { ...STORMY, updates: [0], followsAlone: [0] };

const HABITS: Readonly<Record<CrowdKind, Habits>> = {
  calm: CALM,
  paused: PAUSED,
  lagging: LAGGING,
  lane: NO_TASKS,
  stormy: STORMY,
};

const kindOf = (chance: Chance): CrowdKind => {
  if (chance.happens("calm crowd", CALM_SHARE)) return "calm";
  if (chance.happens("paused crowd", PAUSED_SHARE)) return "paused";
  if (chance.happens("lagging crowd", LAGGING_SHARE)) return "lagging";
  return chance.happens("crowd in a lane", LANE_SHARE) ? "lane" : "stormy";
};

const isShardedIn = (chance: Chance): boolean =>
  kindOf(chance) === "calm" && chance.happens("calm and sharded", CALM_SHARDED_SHARE);

const accountOf = (chance: Chance, id: string): string =>
  chance.pick(
    `account ${id}`,
    isShardedIn(chance)
      ? [LOCAL, BLIND]
      : chance.pick("crowd accounts", HABITS[kindOf(chance)].accounts),
  );

const updatesOf = (
  chance: Chance,
  containers: readonly string[],
  withinMs: number,
): readonly Asked[] =>
  containers.map((name) =>
    ask(name, chance.between(`when ${name}`, 0, withinMs), {
      operation: "update-container",
      account: accountOf(chance, name),
      params: { ...A, container_name: name },
      body: { description: name },
    }),
  );

/** Commands that follow tasks of other clients, some of them one task together. */
const followsOf = (
  chance: Chance,
  foreign: readonly ForeignTask[],
  { count, withinMs }: { readonly count: number; readonly withinMs: number },
): readonly Asked[] =>
  Array.from({ length: foreign.length > 0 ? count : 0 }, (_, index) => {
    const id = `f${index + 1}`;
    const isSecond = index > 0 && chance.happens(`second ${id}`, FOLLOWED_TWICE);
    const { id: task_id, createdMs } = chance.pick(
      `task f${isSecond ? index : index + 1}`,
      foreign,
    );
    const afterMs = Math.max(createdMs + 1_000, chance.between(`when ${id}`, 0, withinMs));
    const account = accountOf(chance, id);
    const others = account === LOCAL ? [OTHER_SENDER, NARROW_SENDER] : [OTHER_SENDER];
    const sender = chance.happens(`own ${id}`, 0.9)
      ? OWN_SENDER
      : chance.pick(`sender ${id}`, others);
    return ask(id, afterMs, { operation: "follow-task", account, params: { task_id } }, sender);
  });

/** The crowd of a seed; undefined for most seeds. Draws nothing that a seed without a crowd draws. */
export const crowdOf = (chance: Chance): Crowd | undefined => {
  if (!chance.happens("crowd", SHARE)) return undefined;
  const kind = kindOf(chance);
  const habits = HABITS[kind];
  const updates = chance.pick("crowd updates", habits.updates);
  const { followsBeside, followsAlone } = habits;
  const follows = chance.pick("crowd follows", updates > 0 ? followsBeside : followsAlone);
  const withinMs = chance.pick("crowd within", habits.withinMs);
  // Lists for follows show tasks that began long ago too.
  const others = follows > 0 ? habits.foreign : [0, ...habits.foreign];
  const count = kind === "lane" ? 0 : Math.max(follows, chance.pick("foreign", others));
  const foreign = foreignOf(chance, count, chance.pick("last end", habits.lastMinutes));
  const containers = Array.from({ length: updates }, (_, index) => `crowd-${index + 1}`);
  return {
    inputs:
      kind === "lane"
        ? laneOf(chance)
        : [
            ...updatesOf(chance, containers, withinMs),
            ...followsOf(chance, foreign, { count: follows, withinMs }),
          ],
    foreign,
    containers,
    kind,
    isSharded: isShardedIn(chance),
    requestsPerSecond: chance.pick("budget", habits.requestsPerSecond),
    isListRefused: chance.happens("lists refused", 0.08),
    lagMs: {
      start: chance.pick("late start", [0, 0, 3_000, 12_000]),
      end: chance.pick("late end", [0, 2_000, 15_000, 15_000]),
    },
    showsEnded: chance.happens("shows ended", 0.75),
  };
};

/** The provider's state at the start, with the crowd's containers. */
export const stateOf = (crowd: Crowd | undefined): State => {
  const state = builtInState();
  const [first] = state.containers;
  if (!crowd || !first) return state;
  const more = crowd.containers.map((name) => ({ ...first, name }));
  return { ...state, containers: [...state.containers, ...more] };
};
