import { periodMsOf } from "../platform/deployment.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Random } from "../platform/ports/random.ts";
import {
  DEFAULT_AMBIGUITY_WINDOW_MS,
  DEFAULT_REQUESTS_PER_SECOND,
} from "../provider/accounts-config.ts";
import type { OtherPaths } from "../provider/client.ts";
import { serve } from "../service/serve.ts";
import { createService } from "../service/service.ts";
import { BUILT_IN_API_KEYS, createBuiltInKeys, replaceBuiltInKey } from "../service/state/keys.ts";
import type { State } from "../service/state/state.ts";
import { builtInState } from "../service/state/state.ts";
import { createMemoryStore, openLevelStore } from "../service/store.ts";
import { createClosing } from "./closing.ts";
import { type DataDirectory, DataDirectoryError } from "./data-directory.ts";
import { writeUnlessFailed } from "./level-database.ts";
import type { JobTimes } from "./scheduled-jobs.ts";

/** Which provider the account `local` belongs to. */
export type ProviderChoice =
  | {
      readonly kind: "embedded";
      readonly port: number;
      readonly taskDurationMs: number;
      /** What it starts with; a directory that has a state already is refused. */
      readonly seed?: State | undefined;
      /** What it starts with where it has no state yet; absent: the built-in state. */
      readonly firstState?: State | undefined;
      /** One more key for every project; absent: a random one. */
      readonly apiKey?: string | undefined;
      readonly requestsPerSecond?: number | undefined;
      /** Names besides those of the loopback address that a request's `Host` may have. */
      readonly allowedHosts?: readonly string[] | undefined;
    }
  | {
      readonly kind: "remote";
      readonly baseUrl: string;
      readonly apiKey: () => Promise<string>;
      readonly paths: OtherPaths;
      readonly canList: boolean;
    };

/** A provider that commands can be sent to, with the times that fit it. */
export interface Provider {
  readonly baseUrl: string;
  readonly apiKey: () => Promise<string>;
  readonly paths: OtherPaths;
  readonly canList: boolean;
  readonly ambiguityWindowMs: number;
  readonly requestsPerSecond: number;
  readonly jobTimes: JobTimes;
  /** The embedded service's built-in key, while its state has it. It opens this run only, so it may be printed. */
  readonly builtInKey?: string | undefined;
  close(): Promise<void>;
}

interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where the embedded service keeps its state, and what its keys are made of; absent: in memory. */
  readonly data: Pick<DataDirectory, "service" | "fingerprintKey"> | undefined;
  /** Aborted with the error of the first write to the data directory that fails. */
  readonly failing: AbortController;
}

const CONFIG_JOB_TIMES = {
  driftMs: periodMsOf("threshold-drift"),
  pricesMs: periodMsOf("price-snapshot"),
};
/** It lives in this process; a request that is stalled dies with its sender. */
const EMBEDDED_TIMES = {
  ambiguityWindowMs: 5_000,
  requestsPerSecond: 1_000,
  jobTimes: { ...CONFIG_JOB_TIMES, pricePeriodMs: 1_000, aiTasksMs: 2_000 },
};
/** As in the cloud. */
const REMOTE_TIMES = {
  ambiguityWindowMs: DEFAULT_AMBIGUITY_WINDOW_MS,
  requestsPerSecond: DEFAULT_REQUESTS_PER_SECOND,
  jobTimes: {
    ...CONFIG_JOB_TIMES,
    pricePeriodMs: CONFIG_JOB_TIMES.pricesMs,
    aiTasksMs: periodMsOf("ai-tasks"),
  },
};

const openEmbedded = async (
  choice: Extract<ProviderChoice, { kind: "embedded" }>,
  { clock, random, log, data, failing }: Surroundings,
): Promise<Provider> => {
  const closing = createClosing();
  try {
    const store = data === undefined ? createMemoryStore() : await openLevelStore(data.service);
    closing.add(() => store.close());
    if (data !== undefined && choice.seed !== undefined && (await store.load()).size > 0) {
      throw new DataDirectoryError(
        data.service,
        "has a state already, which a seed would not change",
      );
    }
    const apiKey = choice.apiKey ?? random.uuid();
    const keys = data === undefined ? BUILT_IN_API_KEYS : createBuiltInKeys(data.fingerprintKey);
    const service = await createService({
      clock,
      random,
      store: {
        ...store,
        commit: (entries) => writeUnlessFailed(failing, () => store.commit(entries)),
      },
      initialState: choice.seed ?? choice.firstState ?? builtInState(),
      apiKey,
      keyInUse: (stored) => replaceBuiltInKey(stored, keys),
      requestsPerSecond: choice.requestsPerSecond,
      taskDurationMs: choice.taskDurationMs,
      onFault: (error, requestId) =>
        log.error("fault of the service", { requestId, errorMessage: error.message }),
    });
    const served = await serve(service, choice.port, choice.allowedHosts);
    closing.add(() => served.close());
    return {
      baseUrl: served.url,
      apiKey: async () => apiKey,
      builtInKey: [keys.first].find(service.accepts),
      paths: {},
      canList: true,
      ...EMBEDDED_TIMES,
      close: closing.close,
    };
  } catch (error) {
    await closing.close();
    throw error;
  }
};

/** Starts the embedded service, or points at a provider elsewhere. */
export const openProvider = async (
  choice: ProviderChoice,
  surroundings: Surroundings,
): Promise<Provider> =>
  choice.kind === "embedded"
    ? openEmbedded(choice, surroundings)
    : { ...choice, ...REMOTE_TIMES, close: async () => {} };
