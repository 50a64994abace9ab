import { checkAll, watch } from "./checks/all.ts";
import type { Violation } from "./cloud/chronicle.ts";
import { type Cloud, openCloud } from "./cloud/cloud.ts";
import type { Tampering } from "./cloud/tampering.ts";
import type { Strike } from "./engine/faults.ts";
import { historyOf, type Moment } from "./history.ts";
import { metIn } from "./met.ts";

const STORM_MS = 6 * 60_000;
const LOOK_MS = 20_000;
/** Longer than the longest deadline, and all that comes after it. */
const MAX_REST_MS = 2 * 60 * 60_000;

export interface RunOptions {
  readonly seed: number;
  /** Only these strikes, as `place kind`; absent: all that chance brings. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Only the inputs and versions of the config of these ids; absent: all. */
  readonly parts?: ReadonlySet<string> | undefined;
  /** A deliberate bug; absent: the system as it is. */
  readonly tampering?: Tampering | undefined;
}

export interface RunReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** Ids of what was done: inputs, and versions of the config. */
  readonly parts: readonly string[];
  readonly struck: readonly Strike[];
  /** How much time went by in the run. */
  readonly virtualMs: number;
  /** What happened, in the order of time. */
  readonly history: readonly Moment[];
  /** What it has come upon, each once. */
  readonly met: readonly string[];
}

/** A person looks at the dead letters, and sends them back. */
const redrive = async ({ triggers, queue }: Cloud): Promise<void> => {
  for (const { name, event } of triggers.undelivered.splice(0)) triggers.deliver(name, event);
  await queue.redrive();
};

/** Far more than any run needs that does not turn in circles. */
const MAX_CALLS = 200_000;

const isAtRest = async ({ ledger, queue, triggers, jobs, people }: Cloud): Promise<boolean> => {
  if (
    people.areBusy() ||
    triggers.isBusy() ||
    jobs.pending() > 0 ||
    triggers.undelivered.length > 0
  )
    return false;
  const due = await ledger.true.listDue(Number.MAX_SAFE_INTEGER, 1);
  return due.length === 0 && queue.isEmpty();
};

/** With the faults off, the system has to come to rest by itself, dead letters aside. */
const comeToRest = async (cloud: Cloud): Promise<boolean> => {
  const { timeline, faults } = cloud;
  const endsAt = timeline.now() + MAX_REST_MS;
  while (timeline.now() < endsAt && faults.calls() < MAX_CALLS) {
    await redrive(cloud);
    await timeline.runUntil(timeline.now() + LOOK_MS);
    if (await isAtRest(cloud)) return true;
  }
  return false;
};

/** One run: the storm, the rest, and what of the invariants was broken. */
export const run = async ({
  seed,
  only,
  parts: kept,
  tampering = {},
}: RunOptions): Promise<RunReport> => {
  const cloud = await openCloud({ seed, only, parts: kept, tampering });
  const { timeline, faults, startsAt, chronicle } = cloud;
  watch(cloud);
  const { inputs } = cloud;
  for (const input of inputs) cloud.perform(input);
  for (const version of cloud.versions) cloud.jobs.write(version);
  cloud.triggers.start();
  cloud.jobs.start();
  await timeline.runUntil(startsAt + STORM_MS);
  faults.calm();
  const isQuiet = await comeToRest(cloud);
  const violations = isQuiet
    ? [...chronicle.violations, ...(await checkAll(cloud, inputs))]
    : [...chronicle.violations, { invariant: 0, text: "does not come to rest" }];
  return {
    seed,
    violations,
    parts: [...inputs, ...cloud.versions].map(({ id }) => id),
    struck: faults.struck,
    virtualMs: timeline.now() - startsAt,
    history: historyOf(cloud),
    met: await metIn(cloud),
  };
};
