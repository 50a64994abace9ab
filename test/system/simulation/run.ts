import { checkAll, watch } from "./checks/all.ts";
import { checkThresholds } from "./checks/thresholds.ts";
import type { Violation } from "./cloud/chronicle.ts";
import { type Cloud, openCloud } from "./cloud/cloud.ts";
import { exactly, type Strike, seeded } from "./engine/faults.ts";
import { historyOf, type Moment } from "./history.ts";
import { metIn } from "./met.ts";
import { STARTS_AT } from "./plan/actors.ts";
import type { Input } from "./plan/deeds.ts";
import { planOf } from "./plan/plan.ts";

const STORM_MS = 6 * 60_000;
const LOOK_MS = 20_000;
/** Longer than the longest deadline, and all that comes after it. */
const MAX_REST_MS = 2 * 60 * 60_000;

export interface RunOptions {
  readonly seed: number;
  /** Only these faults, as `place kind`; absent: every fault that the seed decides. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Only the inputs and config versions with these ids; absent: all. */
  readonly parts?: ReadonlySet<string> | undefined;
}

export interface RunReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** Ids of the workload: inputs and config versions. */
  readonly parts: readonly string[];
  readonly struck: readonly Strike[];
  readonly isCrowded: boolean;
  /** Virtual duration of the run, ms. */
  readonly virtualMs: number;
  /** The run's history, in the order of time. */
  readonly history: readonly Moment[];
  /** Coverage of the run, each name once. */
  readonly met: readonly string[];
}

/** The operator redrives all dead letters. */
const redrive = async ({ aws }: Cloud): Promise<void> => {
  for (const queue of [aws.requestQueue, aws.commandQueue]) {
    for (const { messageId } of queue.deadLetters()) await queue.redrive(messageId);
  }
};

/** Far more calls than a run without an endless loop makes. */
const MAX_CALLS = 200_000;

/** Whether nothing is due, under way or a dead letter. */
export const isAtRest = async ({
  ledger,
  aws,
  people,
}: Pick<Cloud, "ledger" | "aws" | "people">): Promise<boolean> => {
  const queues = [aws.requestQueue, aws.commandQueue];
  const hasLetters = queues.some((queue) => queue.deadLetters().length > 0);
  if (people.areBusy() || aws.isBusy() || hasLetters) return false;
  return (await ledger.true.listDue(Number.MAX_SAFE_INTEGER, 1)).length === 0;
};

/**
 * Waits without faults until nothing is due or under way; only dead letters need the operator.
 * @returns whether that happened in time
 */
const comeToRest = async (cloud: Cloud): Promise<boolean> => {
  const { timeline, faults } = cloud;
  const endsAt = timeline.now() + MAX_REST_MS;
  while (timeline.now() < endsAt && faults.calls() < MAX_CALLS) {
    await redrive(cloud);
    await timeline.advance(LOOK_MS);
    if (await isAtRest(cloud)) return true;
  }
  return false;
};

/** Checks all invariants on the system without faults. */
const checkAtRest = async (
  cloud: Cloud,
  inputs: readonly Input[],
): Promise<readonly Violation[]> => {
  const restless = { invariant: 0, text: "the system does not come to rest" };
  if (!(await comeToRest(cloud))) return [restless];
  // This check runs further syncs. The others check their results too, when all has ended that began meanwhile.
  const ofThresholds = await checkThresholds(cloud);
  return (await comeToRest(cloud))
    ? [...ofThresholds, ...(await checkAll(cloud, inputs))]
    : [...ofThresholds, restless];
};

/** One run: a phase with faults, a phase without, and then the checks of all invariants. */
export const run = async ({ seed, only, parts: kept }: RunOptions): Promise<RunReport> => {
  const plan = planOf(seed, kept);
  const decide = only ? exactly(only) : seeded(plan);
  const cloud = await openCloud({ plan, decide });
  const { timeline, faults, chronicle } = cloud;
  watch(cloud);
  const { inputs } = cloud;
  for (const input of inputs) cloud.perform(input);
  for (const version of cloud.versions) cloud.jobs.write(version);
  cloud.start();
  await timeline.advance(STORM_MS);
  faults.calm();
  cloud.limits.relax();
  const broken = await checkAtRest(cloud, inputs);
  const violations = [...chronicle.violations, ...broken];
  return {
    seed,
    violations,
    parts: [...inputs, ...cloud.versions].map(({ id }) => id),
    struck: faults.struck,
    isCrowded: plan.provider.crowd !== undefined,
    virtualMs: timeline.now() - STARTS_AT,
    history: historyOf(cloud),
    met: await metIn(cloud),
  };
};
