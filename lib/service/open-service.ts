import type { Clock } from "../platform/ports/clock.ts";
import { type AdjustableClock, createAdjustableClock } from "./adjustable-clock.ts";
import { type Control, createControl } from "./control.ts";
import { CONTROL_PATH, createControlApp } from "./control-routes.ts";
import type { FaultRule } from "./fault-rules.ts";
import { createFaults, type FaultsOptions } from "./faults.ts";
import type { Reach } from "./reach.ts";
import { createRequestLog } from "./request-log.ts";
import { serve } from "./serve.ts";
import { createService, type Service, type ServiceOptions } from "./service.ts";

/** Faults with which a service starts. */
export interface FaultChoice extends Pick<FaultsOptions, "latency" | "seed"> {
  readonly rules: readonly FaultRule[];
}

export interface OpenServiceOptions extends Omit<ServiceOptions, "faults" | "onRequest"> {
  /** Clock under the adjustable one of the service. */
  readonly clock: Clock;
  /** 0 for any free one. */
  readonly port: number;
  /** Default: 127.0.0.1 only. */
  readonly reach?: Reach | undefined;
  /** Whether the process runs this service only, so that the HTTP adapter may replace its global classes. */
  readonly ownProcess?: boolean | undefined;
  /** Absent: none. */
  readonly faults?: FaultChoice | undefined;
  /** Opens the controls under `/_skyhook/`; absent: these paths are unknown, like any other. */
  readonly controlToken?: string | undefined;
}

/** A service with its controls that listens at a port. */
export interface OpenService extends Pick<Service, "accepts" | "answer" | "fetch" | "inspect"> {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** The clock of the service. */
  readonly clock: AdjustableClock;
  readonly control: Control;
  /** Ends delayed requests, stops listening and drops open connections. The store stays open. */
  close(): Promise<void>;
}

/**
 * Starts the service with an adjustable clock and a request log.
 * @throws when the port is in use, or the store cannot be read or its state is invalid
 */
export const openService = async (options: OpenServiceOptions): Promise<OpenService> => {
  const { random, initialState, controlToken, onFault } = options;
  const clock = createAdjustableClock(options.clock);
  const requestLog = createRequestLog();
  const ended = new AbortController();
  const faults = createFaults({ clock, random, ...options.faults, signal: ended.signal });
  for (const rule of options.faults?.rules ?? []) faults.add(rule);
  const service = await createService({ ...options, clock, faults, onRequest: requestLog.note });
  const control = createControl({ service, clock, requestLog, faults, initialState });
  const controlApp =
    controlToken === undefined
      ? undefined
      : createControlApp({ control, token: controlToken, newId: () => random.uuid(), onFault });
  /** Only a URL that contains the path is parsed. */
  const isControl = ({ url }: Request): boolean =>
    url.includes(`${CONTROL_PATH}/`) && new URL(url).pathname.startsWith(`${CONTROL_PATH}/`);
  const answer: Service["answer"] = (request) =>
    controlApp && isControl(request) ? controlApp.fetch(request) : service.answer(request);
  const { port, reach, ownProcess } = options;
  const served = await serve({ ...service, fetch: answer }, port, { ...reach, ownProcess });
  return {
    ...service,
    url: served.url,
    answer,
    fetch: async (request) => answer(request),
    clock,
    control,
    async close() {
      // Otherwise delayed requests would change the state after the store is closed.
      ended.abort();
      await served.close();
    },
  };
};
