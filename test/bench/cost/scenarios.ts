import { dollarsOf, UNITS, type Units } from "../../../lib/cost/prices.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { openMeteredCloud } from "./metered-cloud.ts";
import { type OperationName, openProvider } from "./provider.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** One load. Each command has a resource, and so a lane, of its own. */
export interface Scenario {
  readonly text: string;
  readonly operation: OperationName;
  /** Number of measured commands. */
  readonly commands: number;
  /** Duration of a task, ms; 0 for an operation without. */
  readonly taskMs: number;
  /** Time between two commands, ms; 0: all begin at one instant. */
  readonly everyMs: number;
  /** Commands before the measured ones, until the load is steady; default: none. */
  readonly unmeasured?: number;
  /** Rate limit of the poller's requests, requests/s; default: that of an account. */
  readonly requestsPerSecond?: number;
  /**
   * The scenario runs once for each of these additions to the duration of a task, ms, because the ends of tasks that
   * began together are found by one list, early or late by chance. Figures are means; default: one run.
   */
  readonly phasesMs?: readonly number[];
}

const ACCOUNT_LIMIT = 20;

const together = (commands: number, requestsPerSecond: number): Scenario => ({
  text: `${commands} tasks of 120 s that begin at one instant; rate limit ${requestsPerSecond}/s`,
  operation: "update-container",
  taskMs: 120 * SECOND_MS,
  everyMs: 0,
  ...{ commands, requestsPerSecond },
});

/**
 * Commands far apart: a minute's phases divided evenly, so that none depends on the poller's schedule. Their tasks end
 * half a second beside the whole seconds by which checks follow each other.
 */
const alone = (commands: number, seconds: number): Scenario => ({
  text: `${commands} commands one after the other, each with a task of ${seconds} s, in all phases of a minute`,
  operation: "update-container",
  taskMs: seconds * SECOND_MS + SECOND_MS / 2,
  everyMs: seconds * SECOND_MS + 3 * MINUTE_MS + Math.round(MINUTE_MS / commands),
  commands,
});

/** Commands without a task, each in another phase of a minute. */
const atOnce = (commands: number): Scenario => ({
  text: `${commands} commands update-policy (E5), which begins no task, one after the other`,
  operation: "update-policy",
  taskMs: 0,
  everyMs: 2 * MINUTE_MS + Math.round(MINUTE_MS / commands),
  commands,
});

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "at-once": atOnce(200),
  "at-once-1000": {
    text: `1000 commands update-policy that begin at one instant; rate limit ${ACCOUNT_LIMIT}/s`,
    operation: "update-policy",
    ...{ taskMs: 0, everyMs: 0, commands: 1_000 },
  },
  "task-alone": alone(180, 60),
  "task-alone-2h": alone(10, 2 * 60 * 60),
  "tasks-steady-100": {
    text: "100 open tasks of 120 s at a time: a command each 1.2 s, measured for 6 minutes after 4",
    operation: "update-container",
    taskMs: 120 * SECOND_MS,
    everyMs: 1_200,
    commands: 300,
    unmeasured: 200,
  },
  "tasks-together-1000": {
    ...together(1_000, ACCOUNT_LIMIT),
    phasesMs: [0, 800, 1_600, 2_400, 3_200],
  },
  "tasks-together-10000": together(10_000, 1_000),
  "tasks-together-10000-at-20": together(10_000, ACCOUNT_LIMIT),
};

/** Scenarios of other sizes, for tests. */
export const scenarioOf = { atOnce, together, alone };

export interface Figures {
  /** Lists of tasks and reads of single ones, not the mutations. */
  readonly providerRequests: number;
  readonly requestsPerTask: number;
  /**
   * From the task's end at the provider to the publication of the command's end, ms. Without a task: from the effect of
   * the request.
   */
  readonly lateP50Ms: number;
  readonly lateP90Ms: number;
  /** Of the table, without its indexes. */
  readonly wruPerCommand: number;
  readonly indexWruPerCommand: number;
  readonly listIndexWruPerCommand: number;
  readonly rruPerCommand: number;
  readonly publishesPerCommand: number;
  readonly dollarsPerMillion: number;
  readonly followingDollarsPerMillion: number;
}

export interface Result {
  readonly figures: Figures;
  /** Units for one command. */
  readonly whole: Units;
  /** The part of them that only follows the command's tasks. */
  readonly following: Units;
}

/** After the last command, for the end of the poller's run and its wake signals. */
const REST_MS = 3 * MINUTE_MS;
const LONGEST_MS = 72 * HOUR_MS;

const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));

const perCommand = (units: Units, commands: number): Units =>
  Object.fromEntries(UNITS.map((unit) => [unit, units[unit] / commands])) as Units;

const sum = (one: Units, other: Units): Units =>
  Object.fromEntries(UNITS.map((unit) => [unit, one[unit] + other[unit]])) as Units;

const figuresOf = (
  whole: Units,
  following: Units,
  { requests, late, commands }: Pick<Run, "requests" | "late"> & { readonly commands: number },
): Figures => {
  const sorted = [...late].sort((a, b) => a - b);
  const quantile = (part: number): number => sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
  return {
    providerRequests: requests,
    requestsPerTask: rounded(requests / commands, 3),
    lateP50Ms: Math.round(quantile(0.5)),
    lateP90Ms: Math.round(quantile(0.9)),
    wruPerCommand: rounded(whole.tableWrites),
    indexWruPerCommand: rounded(whole.dueIndexWrites),
    listIndexWruPerCommand: rounded(whole.listIndexWrites),
    rruPerCommand: rounded(whole.reads),
    publishesPerCommand: rounded(whole.publishes),
    dollarsPerMillion: rounded(dollarsOf(whole) * 1e6),
    followingDollarsPerMillion: rounded(dollarsOf(following) * 1e6),
  };
};

interface Run {
  readonly whole: Units;
  readonly following: Units;
  readonly requests: number;
  readonly late: readonly number[];
}

const runOnce = async (scenario: Scenario): Promise<Run> => {
  const { operation, commands, taskMs, everyMs, unmeasured = 0 } = scenario;
  const { requestsPerSecond = ACCOUNT_LIMIT } = scenario;
  const clock = createVirtualClock();
  const all = commands + unmeasured;
  const provider = await openProvider({ clock, operation, resources: all, taskMs });
  const cloud = await openMeteredCloud({ clock, provider, operation, requestsPerSecond });

  const untilEnded = async (count: number): Promise<void> => {
    await clock.advance(LONGEST_MS, () => cloud.ends().length >= count);
    if (cloud.ends().length < count) throw new Error("not all commands have ended");
  };
  const sendAllAtOnce = async (): Promise<void> => {
    cloud.hold();
    for (let number = 1; number <= all; number += 1) await cloud.send(number);
    do await clock.advance(0);
    while (cloud.isBusy());
    cloud.release();
    const instants = new Set(provider.changes());
    if (instants.size !== 1) throw new Error("the tasks did not begin at one instant");
  };
  const sendEach = async (from: number, count: number): Promise<void> => {
    for (let number = from; number < from + count; number += 1) {
      await cloud.send(number);
      await clock.advance(everyMs);
    }
  };

  await sendEach(1, unmeasured);
  cloud.totals.reset();
  const requestsBefore = cloud.followingRequests();
  const since = clock.now();
  if (everyMs === 0) await sendAllAtOnce();
  else await sendEach(unmeasured + 1, commands);
  if (unmeasured === 0) {
    await untilEnded(commands);
    await clock.advance(REST_MS);
  }
  const measured = cloud.ends().filter(({ at }) => at >= since);
  const following = perCommand(cloud.totals.of("following"), measured.length);
  const whole = sum(following, perCommand(cloud.totals.of("rest"), measured.length));
  const [failure] = cloud.failures();
  if (failure !== undefined) throw new Error(`a command failed: ${failure}`);
  const late = measured.map(({ number, at }) => {
    const changedAt = provider.changedAt(number) ?? Number.NaN;
    return at - changedAt - taskMs;
  });
  return { whole, following, requests: cloud.followingRequests() - requestsBefore, late };
};

const mean = (all: readonly Units[]): Units => perCommand(all.reduce(sum), all.length);

/**
 * Runs a scenario. Its counts are the same in each run; its dollars have measured CPU time.
 * @throws Error when a command fails, or has not ended after three days of virtual time
 */
export const runScenario = async (scenario: Scenario): Promise<Result> => {
  const runs: Run[] = [];
  for (const phaseMs of scenario.phasesMs ?? [0])
    runs.push(await runOnce({ ...scenario, taskMs: scenario.taskMs + phaseMs }));
  const whole = mean(runs.map((run) => run.whole));
  const following = mean(runs.map((run) => run.following));
  const requests = runs.reduce((total, run) => total + run.requests, 0) / runs.length;
  const late = runs.flatMap((run) => run.late);
  return {
    whole,
    following,
    figures: figuresOf(whole, following, { requests, late, commands: late.length / runs.length }),
  };
};
