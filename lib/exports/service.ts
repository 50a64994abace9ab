/**
 * `skyhook/service`: the provider's interface as a program with state, for tests of any client: in this process and at
 * a port of 127.0.0.1. The test moves its clock, makes it fail, and reads and replaces its state, which is in memory.
 */
import * as z from "zod";
import { problemsOf, problemsText } from "../contract/problem.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { createSystemClock, createSystemRandom } from "../platform/system.ts";
import { type ActiveFault, delayOf, delaySchema, faultRuleSchema } from "../service/fault-rules.ts";
import { parseFault } from "../service/fault-text.ts";
import { openService } from "../service/open-service.ts";
import type { HandledRequest } from "../service/request-log.ts";
import { checkSeed, readSeed } from "../service/seed.ts";
import { builtInState, type State } from "../service/state/state.ts";
import { createMemoryStore } from "../service/store.ts";

export type { Clock } from "../platform/ports/clock.ts";
export type { ActiveFault } from "../service/fault-rules.ts";
export { FaultTextError } from "../service/fault-text.ts";
export type { HandledRequest } from "../service/request-log.ts";
export { SeedError } from "../service/seed.ts";
/** `builtInState()` is the state of a service without a seed: edit a copy for a state of your own. */
export { builtInState, type State } from "../service/state/state.ts";

/** A rule for faults as an object, such as `{ operation: "update-pool", kind: "lost-reply-after", times: 1 }`. */
export type FaultRule = z.input<typeof faultRuleSchema>;

/** A rule for faults: an object, or the text of `--fault`, such as `update-pool=lost-reply-after:1x`. */
export type Fault = FaultRule | string;

export interface ServiceOptions {
  /** Initial state: an object, or JSON text like `skyhook service --print-seed`. Default: the built-in state. */
  readonly seed?: State | string | undefined;
  /** Rules from the start. Default: none. */
  readonly faults?: readonly Fault[] | undefined;
  /** Delay of every request, such as `200ms` or `200ms..2s`. Default: none. */
  readonly latency?: string | undefined;
  /** Seed of the faults' random decisions. Default: 1. */
  readonly faultSeed?: number | undefined;
  /** Clock under that of the service, for instance a virtual one. Default: the clock of this machine. */
  readonly clock?: Clock | undefined;
  /** Port on 127.0.0.1. Default: a free one. */
  readonly port?: number | undefined;
  /** API key of client 1 for every project of the state. Default: a new one. */
  readonly apiKey?: string | undefined;
  /** Duration of background tasks, ms. Default: 100. */
  readonly taskDurationMs?: number | undefined;
  /** Requests per second for each key. Default: no limit. */
  readonly requestsPerSecond?: number | undefined;
  /** Opens the controls under `/_skyhook/` for other processes, with this token. Default: there are none. */
  readonly controlToken?: string | undefined;
  /** Receives each internal error of the service, to which it answers 500. Default: they are dropped. */
  readonly onError?: ((error: Error) => void) | undefined;
}

export interface RunningService {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  /**
   * Handles a request in this process, as if it had come over HTTP.
   * @throws TypeError, like the global `fetch`, when a fault ends the connection without a reply
   */
  fetch(request: Request): Promise<Response>;
  /** The time of the service: its tasks, price lists, delays and rate limit. */
  readonly clock: {
    /** Epoch ms. */
    now(): number;
    /**
     * Moves the time forward, also while it is frozen. Tasks end at their own times.
     * @throws RangeError for a negative duration or NaN, and beyond the year 9999
     */
    advance(durationMs: number): void;
    freeze(): void;
    /** Lets a frozen time run again from where it stands. */
    resume(): void;
  };
  readonly faults: {
    list(): readonly ActiveFault[];
    /**
     * Adds a rule, and returns its id.
     * @throws FaultTextError for a wrong text, TypeError for a wrong object
     */
    add(fault: Fault): string;
    /** @throws Error for an unknown id */
    remove(id: string): void;
    clear(): void;
  };
  /** Changes run between two requests: each sees the state before or after. */
  readonly state: {
    export(): Promise<State>;
    /** Replaces the whole state. @throws SeedError for a wrong one; nothing changes then */
    import(state: State | string): Promise<void>;
    /** Restores the initial state. */
    reset(): Promise<void>;
  };
  readonly requests: {
    /** The newest 200, the newest first. */
    list(): readonly HandledRequest[];
    clear(): void;
  };
  /** Ends delayed requests, drops open connections, and frees the port. A second call does nothing. */
  stop(): Promise<void>;
}

const DEFAULT_TASK_MS = 100;

const optionsSchema = z.object({
  faults: z.array(z.union([z.string(), z.looseObject({})])).default([]),
  latency: delaySchema.optional(),
  faultSeed: z.int().optional(),
  port: z.int().min(0).max(65_535).default(0),
  apiKey: z.string().min(1).optional(),
  taskDurationMs: z.number().min(0).default(DEFAULT_TASK_MS),
  requestsPerSecond: z.int().min(1).optional(),
  controlToken: z.string().min(1).optional(),
});

/** @throws TypeError naming each wrong field and its rule */
const checked = <S extends z.ZodType>(what: string, schema: S, value: unknown): z.output<S> => {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new TypeError(`${what}: ${problemsText(problemsOf(read.error.issues))}`);
};

const ruleOf = (fault: unknown) =>
  typeof fault === "string" ? parseFault(fault) : checked("fault", faultRuleSchema, fault);

const stateOf = (state: State | string): State =>
  typeof state === "string" ? readSeed(state) : checkSeed(state);

/**
 * Starts a service. Any number can run side by side.
 * @throws SeedError for a wrong seed, FaultTextError for the text of a wrong fault, TypeError for any other wrong option,
 * Error with code EADDRINUSE for a port in use
 */
export const startService = async (options: ServiceOptions = {}): Promise<RunningService> => {
  const { clock = createSystemClock(), onError = () => {} } = options;
  const random = createSystemRandom();
  const { faults, latency, faultSeed, port, taskDurationMs, ...access } = checked(
    "startService",
    optionsSchema,
    options,
  );
  const apiKey = access.apiKey ?? random.uuid();
  const service = await openService({
    ...access,
    clock,
    random,
    apiKey,
    store: createMemoryStore(),
    initialState: stateOf(options.seed ?? builtInState()),
    taskDurationMs,
    port,
    faults: {
      rules: faults.map(ruleOf),
      latency: latency === undefined ? undefined : delayOf(latency),
      seed: faultSeed,
    },
    onFault: onError,
  });
  const { url, fetch, control } = service;
  let stopped: Promise<void> | undefined;
  return {
    url,
    apiKey,
    fetch,
    clock: service.clock,
    faults: { ...control.faults, add: (fault) => control.faults.add(ruleOf(fault)).id },
    state: { ...control.state, import: async (state) => control.state.import(stateOf(state)) },
    requests: control.requests,
    stop: () => {
      stopped ??= service.close();
      return stopped;
    },
  };
};
