import { createRequestLog } from "../../../lib/service/request-log.ts";
import { createService } from "../../../lib/service/service.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import type { State } from "../../../lib/service/state/state.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import { createMemoryStore, type Store } from "../../../lib/service/store.ts";
import { type Answer, createExchange } from "../../support/http-exchange.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const TASK_DURATION_MS = 10_000;

/** SHA-256 of the built-in keys, computed with another tool. */
export const BUILT_IN_KEY_HASHES = [
  "5111378b812bb37bd83be3f25c1d1a323d15170528a135e5450763c0b8d674c2",
  "69b2810d95755a6b9eb620f30c22f27856457ec78495ac14414e7e4c1a9e4727",
];

export interface HarnessOptions {
  readonly state?: (builtIn: State) => State;
  readonly store?: Store;
  readonly taskDurationMs?: number;
  readonly requestsPerSecond?: number;
  readonly keptTasks?: number;
  readonly apiKey?: string;
  /** Seed of the random numbers. A restart on the same store needs another one, or ids repeat. */
  readonly seed?: number;
}

/** Starts the service on a virtual clock, with the built-in state or a changed one. */
export const startService = async (options: HarnessOptions = {}) => {
  const { state = (builtIn: State) => builtIn, store = createMemoryStore() } = options;
  const clock = createVirtualClock();
  const faults: Error[] = [];
  const requestLog = createRequestLog();
  const service = await createService({
    clock,
    random: createSeededRandom(options.seed),
    store,
    initialState: state(builtInState()),
    taskDurationMs: options.taskDurationMs ?? TASK_DURATION_MS,
    requestsPerSecond: options.requestsPerSecond,
    keptTasks: options.keptTasks,
    apiKey: options.apiKey,
    onFault: (error) => faults.push(error),
    onRequest: requestLog.note,
  });

  const send = createExchange(service.fetch, "http://service.test", BUILT_IN_API_KEYS.first);

  /** Sends a request that starts one task, lets the task end and returns its record. */
  const runTask = async (method: string, path: string, body: unknown): Promise<Answer["body"]> => {
    const accepted = await send(method, path, { body });
    await clock.advance(options.taskDurationMs ?? TASK_DURATION_MS);
    const task = await send("GET", `/v1/tasks/${accepted.body.tasks[0]}`);
    return task.body;
  };

  /** All committed records by collection and key, in their stored form. */
  const stored = async (): Promise<Record<string, Answer["body"]>> =>
    Object.fromEntries([...(await store.load())].map(([key, text]) => [key, JSON.parse(text)]));

  return { service, clock, faults, send, runTask, stored, requestLog };
};

export const CONTAINER = "/cloud/v1/caas/1234567/76/containers/my-container";
export const CONTAINER_RECORD = 'containers/[1234567,76,"my-container"]';
export const SUSPENDED = "/cloud/v1/instances/1234567/76/6c6aa80f-7836-4dc2-a2ae-125e248be476";
export const ACTIVE = "/cloud/v1/instances/1234567/76/6c6aa80f-7836-4dc2-a2ae-125e248be477";
export const POLICY = "/cloud/v1/lifecycle_policy/1234567/76/1";
export const POOL = "/cloud/v1/lbpools/1234567/76/9fccf0a3-c0de-441d-9afd-2b9b58b08b9f";
export const ROUTERS = "/cloud/v1/routers/1234567/76";
export const EVENT = "/storage/notifications/v1/event";
