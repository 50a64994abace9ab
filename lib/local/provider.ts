import type { ProviderView } from "../admin/provider-view.ts";
import { periodMsOf } from "../platform/deployment.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Random } from "../platform/ports/random.ts";
import type { OwnProvider } from "../provider/accounts.ts";
import {
  DEFAULT_AMBIGUITY_WINDOW_MS,
  DEFAULT_REQUESTS_PER_SECOND,
} from "../provider/accounts-config.ts";
import type { OtherPaths } from "../provider/client.ts";
import { type FaultChoice, openService } from "../service/open-service.ts";
import { isLoopback, type Reach } from "../service/reach.ts";
import { BUILT_IN_API_KEYS, createBuiltInKeys, replaceBuiltInKey } from "../service/state/keys.ts";
import type { State } from "../service/state/state.ts";
import { builtInState } from "../service/state/state.ts";
import { createMemoryStore, openLevelStore } from "../service/store.ts";
import { createClosing } from "./closing.ts";
import { type DataDirectory, DataDirectoryError } from "./data-directory.ts";
import { writeUnlessFailed } from "./level-database.ts";
import { createProviderView } from "./provider-view.ts";
import type { JobTimes } from "./scheduled-jobs.ts";

/** The provider of the account `local`. */
export type ProviderChoice =
  | {
      readonly kind: "embedded";
      readonly port: number;
      readonly taskDurationMs: number;
      /** Initial state; a directory that already has a state is refused. */
      readonly seed?: State | undefined;
      /** Initial state of an empty directory; absent: the built-in state. */
      readonly firstState?: State | undefined;
      /** Additional API key for every project; absent: a random one. */
      readonly apiKey?: string | undefined;
      readonly requestsPerSecond?: number | undefined;
      /** Largest number of ended tasks; absent: the default of the service. */
      readonly keptTasks?: number | undefined;
      /** Default: 127.0.0.1 only. */
      readonly reach?: Reach | undefined;
      /** Whether this process runs the service only. */
      readonly ownProcess?: boolean | undefined;
      /** Absent: none. */
      readonly faults?: FaultChoice | undefined;
      /** Opens the controls under `/_skyhook/` of the service; absent: there are none. */
      readonly controlToken?: string | undefined;
    }
  | {
      /** A service that the caller has started in this process, and stops. */
      readonly kind: "running";
      readonly baseUrl: string;
      readonly apiKey: string;
    }
  | {
      readonly kind: "remote";
      readonly baseUrl: string;
      readonly apiKey: () => Promise<string>;
      readonly paths: OtherPaths;
      readonly canList: boolean;
    };

/** A provider for commands, with its timings. */
export interface Provider extends OwnProvider {
  readonly requestsPerSecond: number;
  readonly jobTimes: JobTimes;
  /** Built-in key of the embedded service, while its state has it. It opens only this run, so it may be printed. */
  readonly builtInKey?: string | undefined;
  /** A look into the embedded service; absent for a remote provider. */
  readonly view?: ProviderView;
  close(): Promise<void>;
}

interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Folder of the embedded service's state, and the source of its keys; absent: in memory. */
  readonly data: Pick<DataDirectory, "service" | "fingerprintKey"> | undefined;
  /** Aborted with the error of the first failed write to the data directory. */
  readonly failing: AbortController;
}

const CONFIG_JOB_TIMES = {
  driftMs: periodMsOf("threshold-drift"),
  pricesMs: periodMsOf("price-snapshot"),
};
/** Short times, because the service runs in this process: a stalled request ends with its sender. */
const EMBEDDED_TIMES = {
  ambiguityWindowMs: 5_000,
  requestsPerSecond: 1_000,
  jobTimes: { ...CONFIG_JOB_TIMES, pricePeriodMs: 1, aiTasksMs: 2_000 },
};
/** Times of a deployed stage. */
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
        "already has a state; start without --seed, or use another folder",
      );
    }
    const apiKey = choice.apiKey ?? random.uuid();
    const keys =
      data === undefined && isLoopback(choice.reach?.address)
        ? BUILT_IN_API_KEYS
        : createBuiltInKeys(data?.fingerprintKey ?? random.uuid());
    const service = await openService({
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
      keptTasks: choice.keptTasks,
      taskDurationMs: choice.taskDurationMs,
      onFault: (error, requestId) =>
        log.error("internal error of the service", { requestId, errorMessage: error.message }),
      port: choice.port,
      reach: choice.reach,
      ownProcess: choice.ownProcess,
      controlToken: choice.controlToken,
      faults: choice.faults,
    });
    closing.add(service.close);
    return {
      baseUrl: service.url,
      apiKey: async () => apiKey,
      builtInKey: [keys.first].find(service.accepts),
      paths: {},
      canList: true,
      ...EMBEDDED_TIMES,
      view: createProviderView(service),
      close: closing.close,
    };
  } catch (error) {
    await closing.close();
    throw error;
  }
};

/** Starts the embedded service, or uses a running service or a remote provider. */
export const openProvider = async (
  choice: ProviderChoice,
  surroundings: Surroundings,
): Promise<Provider> => {
  const close = async () => {};
  switch (choice.kind) {
    case "embedded":
      return openEmbedded(choice, surroundings);
    case "running":
      return {
        baseUrl: choice.baseUrl,
        apiKey: async () => choice.apiKey,
        paths: {},
        canList: true,
        ...EMBEDDED_TIMES,
        close,
      };
    case "remote":
      return { ...choice, ...REMOTE_TIMES, close };
    default:
      return choice satisfies never;
  }
};
