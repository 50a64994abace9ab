import { toAccountsConfig } from "../../../lib/accounts/config.ts";
import { createRecordingBus } from "../../support/recording-bus.ts";
import { createChance } from "../engine/chance.ts";
import { createFaults } from "../engine/faults.ts";
import { createTimeline } from "../engine/timeline.ts";
import { configsOf } from "../plan/configs.ts";
import { inputsOf, isOnStorageEvent, OTHER_SENDER, OWN_SENDER } from "../plan/inputs.ts";
import { weatherOf } from "../plan/weather.ts";
import { createConfigObjects } from "../ports/config-source.ts";
import { createTaskFates } from "../ports/task-fates.ts";
import { createChronicle } from "./chronicle.ts";
import { createJobs } from "./jobs.ts";
import { ACCOUNT, type Surroundings } from "./machines.ts";
import { openMessageQueue } from "./message-queue.ts";
import { createObservedLedger } from "./observed-ledger.ts";
import { openProviderSide } from "./provider-side.ts";
import { createSentCommands, PROVIDER_URL } from "./sent-commands.ts";
import type { Tampering } from "./tampering.ts";
import { createTriggers } from "./triggers.ts";

const STARTS_AT = Date.UTC(2026, 0, 1);
/** Short, so that a run does not last for hours; as long as the request budget's clocks allow. */
const SETTLE_MS = 90_000;
const DEADLINE_MS = 20 * 60_000;

/** The key of the account at the provider: nowhere but in the headers of requests. */
export const API_KEY = "key-canary-9e31c0de5eed0c0de";

export interface CloudOptions {
  readonly seed: number;
  /** Only these strikes happen; absent: all that chance brings. */
  readonly only: ReadonlySet<string> | undefined;
  /** Only the inputs of these ids; absent: all. */
  readonly inputs: ReadonlySet<string> | undefined;
  readonly tampering: Tampering;
}

const accountsOf = (requestsPerSecond: number, settleMs: number) =>
  toAccountsConfig({
    accounts: [
      {
        name: ACCOUNT,
        base_url: PROVIDER_URL,
        api_key: { parameter: "/key" },
        senders: ["own", OTHER_SENDER],
        requests_per_second: requestsPerSecond,
        settle: settleMs,
        deadlines: { default: DEADLINE_MS },
      },
    ],
  });

/** Everything that a run takes place in, on virtual time. */
export const openCloud = async ({ seed, only, inputs: kept, tampering }: CloudOptions) => {
  const chance = createChance(seed);
  const timeline = createTimeline(STARTS_AT);
  const weather = weatherOf(chance);
  const faults = createFaults({ chance, weather, now: timeline.now, only });
  const chronicle = createChronicle();
  const ledger = createObservedLedger();
  const bus = createRecordingBus(ledger.true, OWN_SENDER);
  const sent = createSentCommands();
  const fates = createTaskFates(chance, weather);
  const requestsPerSecond = chance.pick("budget", [2, 5, 20]);
  ledger.onWrite((item) => void timeline.standStill(() => sent.note(item)));
  const provider = await openProviderSide({
    timeline,
    chance,
    apiKey: API_KEY,
    fates,
    chronicle,
    sent,
    items: ledger.items,
  });
  const queue = await openMessageQueue(timeline);
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
    accounts: accountsOf(requestsPerSecond, tampering.settleMs ?? SETTLE_MS),
    ownSender: OWN_SENDER,
    apiKey: API_KEY,
    fingerprintKey: "fingerprint-key",
    reactions: [],
    isSkewed: chance.happens("skewed", 0.3),
    settleMs: SETTLE_MS,
    lines: chronicle.lines,
    configs,
    tampering,
  };
  const triggers = createTriggers(around, queue);
  const jobs = createJobs(around);
  const inputs = inputsOf(chance).filter(({ id }) => !kept || kept.has(id));
  const versions = configsOf(chance, !inputs.some(isOnStorageEvent));
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
    provider,
    triggers,
    jobs,
    configs,
    inputs,
    versions,
    requestsPerSecond,
  };
};

export type Cloud = Awaited<ReturnType<typeof openCloud>>;
