import { openCloud as openAws } from "../../../../lib/local/cloud.ts";
import { createMemoryStore } from "../../../../lib/local/durable-store.ts";
import type { EventBus } from "../../../../lib/platform/ports/bus.ts";
import type { CommandQueue } from "../../../../lib/platform/ports/queue.ts";
import { createRecordingBus } from "../../../support/recording-bus.ts";
import { createRecordingMetrics } from "../../../support/recording-metrics.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";
import { createFaults, type Decide } from "../engine/faults.ts";
import { OWN_SENDER, STARTS_AT } from "../plan/actors.ts";
import { createRunLimits } from "../plan/limits.ts";
import type { Plan } from "../plan/plan.ts";
import { createConfigObjects } from "../ports/config-source.ts";
import { createTaskFates } from "../ports/task-fates.ts";
import { createApiKeys } from "./api-keys.ts";
import { createChronicle } from "./chronicle.ts";
import { createDoer } from "./doing.ts";
import { createJobs, schedulesOf } from "./jobs.ts";
import { logInto, type Surroundings, startMachine } from "./machines.ts";
import { createObservedLedger } from "./observed-ledger.ts";
import { createPeople } from "./people.ts";
import { openProviderSide } from "./provider-side.ts";
import { createSentCommands } from "./sent-commands.ts";

export interface CloudOptions {
  readonly plan: Plan;
  /** Decides about every fault, except those of tasks. */
  readonly decide: Decide;
  /** Wraps the bus of each machine. */
  readonly watchedBus?: (bus: EventBus) => EventBus;
}

/** The whole environment of a run, on virtual time. */
export const openCloud = async ({ plan, decide, watchedBus }: CloudOptions) => {
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
  const aws = await openAws({
    clock: timeline,
    random: createSeededRandom(3),
    log: logInto(chronicle.lines),
    store: createMemoryStore(),
    disturbance: { visit: faults.visit, between: chance.between },
    aws: limits.aws,
    numbers: { commands: { maxReceiveCount: plan.maxReceiveCount } },
  });
  const queue: CommandQueue = {
    async send(message) {
      await aws.commandQueue.send(message);
      if (aws.commandQueue.size() > limits.aws.limits.lookAhead) limits.note("look-ahead");
    },
  };
  const configs = createConfigObjects();
  const around: Surroundings = {
    timeline,
    chance,
    faults,
    ledger,
    bus,
    aws: limits.aws,
    queue,
    waker: aws.wakeQueue,
    provider,
    keys,
    plan,
    metrics,
    lines: chronicle.lines,
    configs,
    watchedBus,
  };
  const jobs = createJobs(around, aws);
  const people = createPeople(around);
  if (plan.formerThreshold !== undefined) await provider.meddle("POST", plan.formerThreshold);
  return {
    plan,
    timeline,
    faults,
    limits,
    chronicle,
    ledger,
    bus,
    metrics,
    aws,
    fates,
    keys,
    provider,
    jobs,
    people,
    configs,
    inputs,
    versions,
    /** Rate limit of every account. */
    requestsPerSecond: Math.max(...accounts.accounts.map((one) => one.requestsPerSecond)),
    jobAccount,
    /** Schedules an input for its time. */
    perform: createDoer({ around, chronicle, aws, people, keys }),
    /** Starts event sources and schedules. */
    start: () =>
      aws.start({
        startMachine: (_target, name) => startMachine(name, around),
        schedules: schedulesOf(around),
      }),
  };
};

export type Cloud = Awaited<ReturnType<typeof openCloud>>;
