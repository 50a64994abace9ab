import { createRecordingBus } from "../../../support/recording-bus.ts";
import { createRecordingMetrics } from "../../../support/recording-metrics.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";
import { createFaults, type Decide } from "../engine/faults.ts";
import { OWN_SENDER, STARTS_AT } from "../plan/actors.ts";
import { createRunLimits } from "../plan/limits.ts";
import { AMBIGUITY_WINDOW_MS, type Plan } from "../plan/plan.ts";
import { createConfigObjects } from "../ports/config-source.ts";
import { createTaskFates } from "../ports/task-fates.ts";
import { createApiKeys } from "./api-keys.ts";
import { createChronicle } from "./chronicle.ts";
import { createDoer } from "./doing.ts";
import { createJobs } from "./jobs.ts";
import type { Surroundings } from "./machines.ts";
import { openMessageQueue } from "./message-queue.ts";
import { createObservedLedger } from "./observed-ledger.ts";
import { createPeople } from "./people.ts";
import { openProviderSide } from "./provider-side.ts";
import { createSentCommands } from "./sent-commands.ts";
import type { Tampering } from "./tampering.ts";
import { createTriggers } from "./triggers.ts";

export interface CloudOptions {
  readonly plan: Plan;
  /** Decides about every fault, except those of tasks. */
  readonly decide: Decide;
  readonly tampering: Tampering;
}

/** The whole environment of a run, on virtual time. */
export const openCloud = async ({ plan, decide, tampering }: CloudOptions) => {
  const { chance, accounts, inputs, versions, jobAccount } = plan;
  const timeline = createVirtualClock(STARTS_AT);
  const faults = createFaults(decide, timeline.now);
  const limits = createRunLimits(plan.limits, timeline);
  const chronicle = createChronicle();
  const ledger = createObservedLedger();
  const bus = createRecordingBus(ledger.true, OWN_SENDER);
  const metrics = createRecordingMetrics();
  const sent = createSentCommands();
  const fates = createTaskFates(chance, plan.weather);
  const keys = createApiKeys(timeline);
  ledger.onWrite((item) => void timeline.standStill(() => sent.note(item)));
  const provider = await openProviderSide({
    plan: plan.provider,
    timeline,
    chance,
    keys,
    fates,
    chronicle,
    sent,
    items: ledger.items,
  });
  const queue = await openMessageQueue(timeline, plan.maxReceiveCount, limits);
  const limitedQueue = limits.aws.queue(queue);
  const configs = createConfigObjects();
  const around: Surroundings = {
    timeline,
    chance,
    faults,
    ledger,
    bus,
    aws: limits.aws,
    queue: limitedQueue,
    waker: { wakeAt: async (at) => triggers.wakeAt(at) },
    provider,
    ownSender: OWN_SENDER,
    keys,
    fingerprintKey: "fingerprint-key",
    plan,
    metrics,
    ambiguityWindowMs: AMBIGUITY_WINDOW_MS,
    lines: chronicle.lines,
    configs,
    tampering,
  };
  const triggers = createTriggers(around, limitedQueue);
  const jobs = createJobs(around);
  const people = createPeople(around);
  return {
    startsAt: STARTS_AT,
    chance,
    timeline,
    faults,
    limits,
    chronicle,
    ledger,
    bus,
    metrics,
    queue,
    fates,
    keys,
    provider,
    triggers,
    jobs,
    people,
    configs,
    inputs,
    versions,
    /** Rate limit of every account. */
    requestsPerSecond: Math.max(...accounts.accounts.map((one) => one.requestsPerSecond)),
    jobAccount,
    /** Schedules an input for its time. */
    perform: createDoer({ around, queue, chronicle, triggers, people, keys, startsAt: STARTS_AT }),
  };
};

export type Cloud = Awaited<ReturnType<typeof openCloud>>;
