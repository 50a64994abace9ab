import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { createKeyring, createRateLimit } from "./admission.ts";
import { createApp, refuseHost, refuseUnreadable } from "./app.ts";
import type { Faults } from "./faults.ts";
import { startAiTaskPlans } from "./operations/ai-tasks.ts";
import { type CommittedRecords, type Draft, openRecords, type RecordReader } from "./records.ts";
import type { RequestNotes, SeenRequest } from "./request-log.ts";
import { doWork, MOUNTED_ROUTES } from "./routes.ts";
import type { KeyRecord } from "./state/keys.ts";
import { hashApiKey } from "./state/keys.ts";
import { COLLECTIONS, type State } from "./state/state.ts";
import type { Store } from "./store.ts";
import { advanceTasks } from "./task-engine.ts";

export interface ServiceOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Store of the records. The caller closes it. */
  readonly store: Store;
  /** State for an empty store. A store with records keeps them. */
  readonly initialState: State;
  /** Duration of a task from its creation to its end. It is NEW for the first fifth. */
  readonly taskDurationMs: number;
  /** Largest number of ended tasks: those that ended first are removed. Default: 100,000. */
  readonly keptTasks?: number | undefined;
  /** One more key in plain text, of client 1 and every project of the state, valid for this run only. */
  readonly apiKey?: string | undefined;
  /** Replaces stored keys in this run. */
  readonly keyInUse?: ((stored: KeyRecord) => KeyRecord) | undefined;
  /** Rate limit of each key; absent for no limit. */
  readonly requestsPerSecond?: number | undefined;
  /** Receives every fault of the service. The caller only sees status 500 and the request id. */
  readonly onFault: (error: Error, requestId: string) => void;
  /** Receives every request after its response. Must return fast and not throw. */
  readonly onRequest?: ((request: SeenRequest) => void) | undefined;
  /** Failures on request; absent for none. */
  readonly faults?: Faults | undefined;
}

/** The state of the service at an instant, epoch ms. */
export interface Snapshot {
  readonly at: number;
  readonly records: CommittedRecords;
}

export interface Service {
  /**
   * Handles one request. Rejects only with a fault of `faults`: LostConnection, a TypeError like that of the global
   * `fetch`.
   */
  fetch(request: Request): Promise<Response>;
  /** As `fetch`, but without a promise where nothing has to be waited for, as in most reads. */
  answer(request: Request): Promise<Response> | Response;
  /** Responds 403 to a request with a `Host` header that is none of the given names. */
  refuseHost(request: Request, hosts: readonly string[]): Response;
  /** Responds 400 to bytes that are not a valid request, such as one with an invalid host. */
  refuseUnreadable(): Response;
  /** Reports whether the service accepts a key, given in plain text. */
  accepts(apiKey: string): boolean;
  /** Advances due tasks, like any request, and returns the records. Read them at once: later changes show. */
  inspect(): Promise<Snapshot>;
  /**
   * Changes the records between two requests, after advancing due tasks, as one commit. Changed keys count from the
   * next request on.
   * @param work gets the instant, epoch ms; nothing changes if it throws
   */
  change<T>(work: (draft: Draft, at: number) => T): Promise<T>;
}

const DEFAULT_KEPT_TASKS = 100_000;

const createAdmission = ({ requestsPerSecond, clock }: ServiceOptions) => {
  if (requestsPerSecond === undefined) return () => {};
  const limit = createRateLimit(requestsPerSecond);
  return (caller: KeyRecord): void => limit(caller.id, clock.now());
};

const keyForEverything = (apiKey: string, records: RecordReader): KeyRecord => {
  const used = COLLECTIONS.flatMap((list) => records.list(list)).flatMap((record) =>
    "project_id" in record ? [record.project_id] : [],
  );
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

/** Runs asynchronous work in the order of the calls, each when the one before has ended. */
const createQueue = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => T | Promise<T>): Promise<T> => {
    const done = last.then(work, work);
    last = done;
    return done;
  };
};

/**
 * The provider's interface with its state. Changes run one by one: tasks first advance to the present, then
 * the operation runs, and the response follows when the store has committed the changes. Reads see committed
 * records. Opens no port; see `serve`.
 * @throws when the store cannot be read or its state is invalid
 */
export const createService = async (options: ServiceOptions): Promise<Service> => {
  const { clock, random, store, initialState, taskDurationMs, onFault } = options;
  const records = await openRecords(store, startAiTaskPlans(initialState, clock.now()));
  const oneAtATime = createQueue();
  const newId = () => random.uuid();
  const stepping = { newId, doWork, keptTasks: options.keptTasks ?? DEFAULT_KEPT_TASKS };
  const { keyInUse = (stored) => stored, apiKey: own } = options;
  const readKeys = () => {
    const ownKey = own === undefined ? [] : [keyForEverything(own, records)];
    return createKeyring([...ownKey, ...records.list("keys").map(keyInUse)]);
  };
  let findKey = readKeys();
  /** Runs work with the instant as its time, when all tasks have advanced to it and no other change runs. */
  const inTurn = <T>(work: (at: number) => T | Promise<T>): Promise<T> =>
    oneAtATime(() => {
      const at = clock.now();
      // An async function would add a promise to each change.
      return records.tasks.nextDueAt() > at
        ? work(at)
        : advanceTasks(records, at, stepping).then(() => work(at));
    });
  const app = createApp({
    routes: MOUNTED_ROUTES,
    findKey: (apiKey) => findKey(apiKey),
    admit: createAdmission(options),
    newId,
    onFault,
    run: (route, raw, caller) => {
      const at = clock.now();
      // A read sees committed records. It only has to wait for changes when a task is due to advance.
      if (route.kind === "read" && records.tasks.nextDueAt() > at) {
        return route.answer(raw, { caller, newId, taskDurationMs, records, at });
      }
      return inTurn((now) =>
        route.kind === "read"
          ? route.answer(raw, { caller, newId, taskDurationMs, records, at: now })
          : records.change((draft) =>
              route.answer(raw, { caller, newId, taskDurationMs, records: draft, at: now }),
            ),
      );
    },
  });
  const { onRequest, faults } = options;
  const handle = (request: Request, notes: RequestNotes) =>
    faults && !faults.isIdle()
      ? faults.handle(request, () => app.fetch(request, notes), notes)
      : app.fetch(request, notes);
  const answer = (request: Request): Promise<Response> | Response => {
    const notes: RequestNotes = {};
    if (!onRequest) return handle(request, notes);
    const at = clock.now();
    const report = (status?: number): void => {
      notes.path ??= new URL(request.url).pathname;
      const seen = { at, method: request.method, path: notes.path, durationMs: clock.now() - at };
      onRequest(Object.assign(notes, seen, status !== undefined && { status }));
    };
    const reply = handle(request, notes);
    if (!(reply instanceof Promise)) {
      report(reply.status);
      return reply;
    }
    return reply.then(
      (settled) => {
        report(settled.status);
        return settled;
      },
      (error) => {
        report();
        throw error;
      },
    );
  };
  return {
    answer,
    fetch: async (request) => answer(request),
    inspect: () => inTurn((at) => ({ at, records })),
    change: (work) =>
      inTurn(async (at) => {
        const result = await records.change((draft) => work(draft, at));
        findKey = readKeys();
        return result;
      }),
    refuseHost: (request, hosts) => refuseHost(request, hosts, newId),
    refuseUnreadable: () => refuseUnreadable(newId),
    accepts: (apiKey) => findKey(apiKey) !== undefined,
  };
};
