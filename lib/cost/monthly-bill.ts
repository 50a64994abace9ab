import { pauseOfAge } from "../engine/poller/open-tasks.ts";
import { dollarsOf, UNITS, type Unit, type Units } from "./prices.ts";

/*
 * What a month of commands costs. Counted by `npm run bench:cost` in November 2026, with the deployed functions on virtual
 * time and 512 MB; `test/system/cost` fails when a counted unit is no longer the one of this file.
 */

type Counted = Readonly<Partial<Units>>;

/** A command that answers at once (scenario `at-once`). */
export const AT_ONCE: Counted = {
  tableWrites: 6,
  dueIndexWrites: 2,
  listIndexWrites: 1,
  reads: 3,
  fifoRequests: 3,
  standardRequests: 3,
  publishes: 2,
  requestEvents: 1,
  invocations: 2,
  gigabyteSeconds: 0.0826,
};

/** A command with a task, without what only finds out that the task has ended (scenario `task-alone`). */
export const WITH_TASK: Counted = {
  tableWrites: 8.06,
  dueIndexWrites: 4,
  listIndexWrites: 1,
  reads: 3.06,
  fifoRequests: 3,
  standardRequests: 3,
  publishes: 3,
  requestEvents: 1,
  invocations: 2,
  gigabyteSeconds: 0.074,
};

/** Following a task of 60 s that is open alone (scenario `task-alone`). */
export const FOLLOWING_60S: Counted = {
  tableWrites: 32.05,
  reads: 43.28,
  standardRequests: 46.26,
  invocations: 16.43,
  gigabyteSeconds: 0.737,
};

/** Following a task of 2 h that is open alone (scenario `task-alone-2h`). */
const FOLLOWING_2H: Counted = {
  tableWrites: 425.8,
  reads: 595.8,
  standardRequests: 469.7,
  invocations: 276.8,
  gigabyteSeconds: 8.594,
};

/** A second of following 100 open tasks by lists (scenario `tasks-steady-100`: 302 commands in 360 s). */
const SHARED_SECOND: Counted = {
  tableWrites: 1.281,
  reads: 3.574,
  standardRequests: 2.522,
  invocations: 0.856,
  gigabyteSeconds: 0.0428,
};

/** Additional part of `SHARED_SECOND` for each open task: 10,000 cost six times as much (`tasks-together-10000`). */
const SHARED_PER_TASK = 0.0005;

export const MONTH_SECONDS = 730 * 3_600;

/**
 * A stage without commands for a month, calculated: the poller's tick and its run of 30 ms each minute with two reads, and
 * the empty receives of five pollers of Lambda for each of three queues, which wait for 20 s.
 */
const IDLE: Counted = (() => {
  const minutes = MONTH_SECONDS / 60;
  const receives = minutes * 3 * 5;
  return {
    ticks: minutes,
    invocations: minutes,
    gigabyteSeconds: minutes * 0.03 * 0.5,
    reads: minutes,
    standardRequests: 2 * receives,
    fifoRequests: receives,
  };
})();

const unitsOf = (value: (unit: Unit) => number): Units =>
  Object.fromEntries(UNITS.map((unit) => [unit, value(unit)])) as Units;

/** Whole units, as they are billed. */
const times = (counted: Counted, factor: number): Units =>
  unitsOf((unit) => Math.round((counted[unit] ?? 0) * factor));

/** Checks of a task that is open alone, until it has run for so long. */
const checksAlone = (seconds: number): number => {
  let checks = 1;
  for (let ageMs = 0; ageMs < seconds * 1_000; checks += 1) ageMs += pauseOfAge(ageMs);
  return checks;
};

/** Following one task that is open alone: between the two that were counted, by the number of its checks. */
const followingAlone = (seconds: number): Units => {
  const [short, long, own] = [60, 7_200, seconds].map(checksAlone) as [number, number, number];
  const part = (own - short) / (long - short);
  return unitsOf((unit) => {
    const [from = 0, to = 0] = [FOLLOWING_60S[unit], FOLLOWING_2H[unit]];
    return part < 0 ? from * (own / short) : from + (to - from) * part;
  });
};

export interface Load {
  /** Commands in a month, evenly distributed. */
  readonly commands: number;
  /** Duration of each command's task, s; 0: commands that answer at once. */
  readonly taskSeconds: number;
}

/** Units of a month, by what causes them. */
export interface Bill {
  readonly commands: Units;
  readonly following: Units;
  readonly idle: Units;
  /** Average number of open tasks. */
  readonly openTasks: number;
}

/**
 * Estimates a month of one stage. Following costs what the tasks cost one by one, but no more than a poller that lists
 * them without a break.
 */
export const monthlyBill = ({ commands, taskSeconds }: Load): Bill => {
  const openTasks = (commands * taskSeconds) / MONTH_SECONDS;
  const idle = times(IDLE, 1);
  if (taskSeconds === 0) {
    return { commands: times(AT_ONCE, commands), following: times({}, 0), idle, openTasks };
  }
  const oneByOne = times(followingAlone(taskSeconds), commands);
  const shared = times(SHARED_SECOND, MONTH_SECONDS * (1 + SHARED_PER_TASK * openTasks));
  const following = dollarsOf(oneByOne) > dollarsOf(shared) ? shared : oneByOne;
  return { commands: times(WITH_TASK, commands), following, idle, openTasks };
};
