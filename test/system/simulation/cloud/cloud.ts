import { readReactions } from "../../../../lib/intake/config-files.ts";
import { deployment } from "../../../../lib/platform/deployment.ts";
import { type AccountsConfig, toAccountsConfig } from "../../../../lib/provider/accounts-config.ts";
import { createRecordingBus } from "../../../support/recording-bus.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";
import { createChance } from "../engine/chance.ts";
import { createFaults } from "../engine/faults.ts";
import {
  B,
  BASE_URLS,
  BLIND,
  LOCAL,
  NARROW_SENDER,
  OTHER_SENDER,
  OWN_SENDER,
  STARTS_AT,
} from "../plan/actors.ts";
import { configsOf } from "../plan/configs.ts";
import { isOnStorageEvent, REACTION } from "../plan/deeds.ts";
import { inputsOf } from "../plan/inputs.ts";
import { weatherOf } from "../plan/weather.ts";
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

/** Short, so that a run does not last for hours, but as long as the differences of clocks require. */
export const AMBIGUITY_WINDOW_MS = 90_000;
const DEADLINE_MS = 20 * 60_000;
const { maxReceiveCount } = deployment.queues.commands;
/** Mostly the deployed number; sometimes so few that messages become dead letters. */
const MAX_RECEIVE_COUNTS = [maxReceiveCount, maxReceiveCount, 2];

export interface CloudOptions {
  readonly seed: number;
  /** Only these faults, as `place kind`; absent: every fault that the seed decides. */
  readonly only: ReadonlySet<string> | undefined;
  /** Only the inputs and config versions with these ids; absent: all. */
  readonly parts: ReadonlySet<string> | undefined;
  readonly tampering: Tampering;
}

const accountsOf = (requestsPerSecond: number, ambiguityWindowMs: number): AccountsConfig => {
  const shared = {
    api_key: { parameter: "/key" },
    requests_per_second: requestsPerSecond,
    settle: ambiguityWindowMs,
    deadlines: { default: DEADLINE_MS },
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

const reactionsFor = (accounts: AccountsConfig) => {
  const read = readReactions(REACTIONS, { accounts, eventSource: "skyhook" });
  if (read.kind === "invalid") throw new Error("the simulation's reactions are invalid");
  return read.value;
};

/** The whole environment of a run, on virtual time. */
export const openCloud = async ({ seed, only, parts, tampering }: CloudOptions) => {
  const chance = createChance(seed);
  const timeline = createVirtualClock(STARTS_AT);
  const weather = weatherOf(chance);
  const faults = createFaults({ chance, weather, now: timeline.now, only });
  const chronicle = createChronicle();
  const ledger = createObservedLedger();
  const bus = createRecordingBus(ledger.true, OWN_SENDER);
  const sent = createSentCommands();
  const fates = createTaskFates(chance, weather);
  const keys = createApiKeys(timeline);
  const requestsPerSecond = chance.pick("budget", [2, 5, 20]);
  const accounts = accountsOf(
    requestsPerSecond,
    tampering.ambiguityWindowMs ?? AMBIGUITY_WINDOW_MS,
  );
  ledger.onWrite((item) => void timeline.standStill(() => sent.note(item)));
  const provider = await openProviderSide({
    timeline,
    chance,
    keys,
    fates,
    chronicle,
    sent,
    items: ledger.items,
  });
  const queue = await openMessageQueue(timeline, chance.pick("receives", MAX_RECEIVE_COUNTS));
  const configs = createConfigObjects();
  const around: Surroundings = {
    timeline,
    chance,
    faults,
    ledger,
    bus,
    queue,
    waker: { wakeAt: async (at) => triggers.wakeAt(at) },
    provider,
    accounts,
    ownSender: OWN_SENDER,
    keys,
    fingerprintKey: "fingerprint-key",
    reactions: reactionsFor(accounts),
    isSkewed: chance.happens("skewed", 0.3),
    jobAccount: chance.pick("jobs of", [LOCAL, LOCAL, BLIND]),
    ambiguityWindowMs: AMBIGUITY_WINDOW_MS,
    lines: chronicle.lines,
    configs,
    tampering,
  };
  const triggers = createTriggers(around, queue);
  const jobs = createJobs(around);
  const people = createPeople(around);
  const all = inputsOf(chance);
  // Leaving inputs out changes nothing about the rest.
  const isKept = ({ id }: { readonly id: string }): boolean => !parts || parts.has(id);
  const inputs = all.filter(isKept);
  const versions = configsOf(chance, !all.some(isOnStorageEvent)).filter(isKept);
  return {
    startsAt: STARTS_AT,
    chance,
    timeline,
    faults,
    chronicle,
    ledger,
    bus,
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
    requestsPerSecond,
    jobAccount: around.jobAccount,
    /** Schedules an input for its time. */
    perform: createDoer({ around, chronicle, triggers, people, keys, startsAt: STARTS_AT }),
  };
};

export type Cloud = Awaited<ReturnType<typeof openCloud>>;
