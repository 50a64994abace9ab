import pLimit from "p-limit";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { createKeyring, createRateLimit } from "./admission.ts";
import { createApp, refuseHost, refuseUnreadable } from "./app.ts";
import { startAiTaskPlans } from "./operations/ai-tasks.ts";
import { openRecords, type RecordReader } from "./records.ts";
import { doWork, MOUNTED_ROUTES } from "./routes.ts";
import type { KeyRecord } from "./state/keys.ts";
import { hashApiKey } from "./state/keys.ts";
import type { State } from "./state/state.ts";
import type { Store } from "./store.ts";
import { settleTasks } from "./task-engine.ts";

export interface ServiceOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Holds the records between runs. The service does not close it. */
  readonly store: Store;
  /** What an empty store is filled with; a store that has been used is left as it is. */
  readonly initialState: State;
  /** Time from a task's creation to its end; a fifth of it the task is NEW. */
  readonly taskDurationMs: number;
  /**
   * One more key, in plain text, of client 1 and for every project of the state. It is not stored: it
   * opens this run only.
   */
  readonly apiKey?: string | undefined;
  /** The form in which a stored key counts in this run; absent: as it is stored. */
  readonly keyInUse?: ((stored: KeyRecord) => KeyRecord) | undefined;
  /** How many requests each key may send in a second; absent: any number. */
  readonly requestsPerSecond?: number | undefined;
  /** Told of every fault of the service itself, which the caller sees as a bare 500. */
  readonly onFault: (error: Error, requestId: string) => void;
}

export interface Service {
  /** Answers one request. Never rejects. */
  fetch(request: Request): Promise<Response>;
  /** Refuses a request whose `Host` is none of the given names. */
  refuseHost(request: Request, hosts: readonly string[]): Response;
  /** Answers what is not even a request, such as one whose host is no host. */
  refuseUnreadable(): Response;
  /** Whether a key, in plain text, opens anything. */
  accepts(apiKey: string): boolean;
}

/** Without a limit there is nothing to count, nor a time to be asked for. */
const createAdmission = ({ requestsPerSecond, clock }: ServiceOptions) => {
  if (requestsPerSecond === undefined) return () => {};
  const limit = createRateLimit(requestsPerSecond);
  return (caller: KeyRecord): void => limit(caller.id, clock.now());
};

/** Lists whose records live in a project. */
const IN_PROJECTS = [
  "containers",
  "instances",
  "lifecycle_policies",
  "load_balancer_pools",
  "routers",
  "floating_ips",
  "networks",
  "k8s_clusters",
  "gpu_clusters",
  "tasks",
] as const;

const keyForEverything = (apiKey: string, records: RecordReader): KeyRecord => {
  const used = IN_PROJECTS.flatMap((list) => records.list(list).map((record) => record.project_id));
  const owned = records.list("keys").flatMap(({ project_ids }) => project_ids);
  return {
    id: "own",
    sha256: hashApiKey(apiKey),
    client_id: 1,
    user_id: 1,
    project_ids: [...new Set([...used, ...owned])],
    revoked: false,
  };
};

/**
 * The provider's interface with its state. Changes take their turn one by one: first everything that is
 * due by now happens to tasks, then the operation runs, and its answer is sent when its changes are in
 * the store. Reads see what is in the store. Opens no port; see `serve`.
 * @throws when the store cannot be read or holds something else than a state
 */
export const createService = async (options: ServiceOptions): Promise<Service> => {
  const { clock, random, store, initialState, taskDurationMs, onFault } = options;
  const records = await openRecords(store, startAiTaskPlans(initialState, clock.now()));
  const inTurn = pLimit(1);
  const newId = () => random.uuid();
  const ownKey = options.apiKey === undefined ? [] : [keyForEverything(options.apiKey, records)];
  const { keyInUse = (stored) => stored } = options;
  const findKey = createKeyring([...ownKey, ...records.list("keys").map(keyInUse)]);
  const app = createApp({
    routes: MOUNTED_ROUTES,
    findKey,
    admit: createAdmission(options),
    newId,
    onFault,
    run: (route, raw, caller) => {
      const at = clock.now();
      // Readers see what is committed, so they need not wait for anyone unless time has work to do.
      if (route.kind === "read" && records.tasks.nextDueAt() > at) {
        return route.answer(raw, { caller, newId, taskDurationMs, records, at });
      }
      return inTurn(async () => {
        const context = { caller, newId, taskDurationMs, at: clock.now() };
        await settleTasks(records, context.at, newId, doWork);
        return route.kind === "read"
          ? route.answer(raw, { ...context, records })
          : records.change((draft) => route.answer(raw, { ...context, records: draft }));
      });
    },
  });
  return {
    fetch: async (request) => app.fetch(request),
    refuseHost: (request, hosts) => refuseHost(request, hosts, newId),
    refuseUnreadable: () => refuseUnreadable(newId),
    accepts: (apiKey) => findKey(apiKey) !== undefined,
  };
};
