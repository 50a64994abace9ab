import { afterEach } from "vitest";
import { type OpenServiceOptions, openService } from "../../../lib/service/open-service.ts";
import { formatSeed } from "../../../lib/service/seed.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { builtInState, type State } from "../../../lib/service/state/state.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { createExchange, type SentRequest } from "../../support/http-exchange.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

export const TOKEN = "token-of-the-controls";
export const TASK_DURATION_MS = 10_000;

const opened: (() => Promise<void>)[] = [];

/** Closes the services of a test. */
export const closeAfterEach = (): void => {
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
  });
};

/** A service with controls on a virtual clock, with the built-in state. */
export const startControlled = async (options: Partial<OpenServiceOptions> = {}) => {
  const clock = createVirtualClock();
  const faults: Error[] = [];
  const service = await openService({
    clock,
    random: createSeededRandom(),
    store: createMemoryStore(),
    initialState: builtInState(),
    taskDurationMs: TASK_DURATION_MS,
    port: 0,
    controlToken: TOKEN,
    onFault: (error) => faults.push(error),
    ...options,
  });
  opened.push(service.close);
  const send = createExchange(service.fetch, service.url, BUILT_IN_API_KEYS.first);
  const raw = createExchange(service.fetch, `${service.url}/_skyhook`, "unused");
  /** Sends a request to the controls, with their token and as JSON. */
  const control = (method: string, path: string, sent: SentRequest = {}) =>
    raw(method, path, {
      ...sent,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        "content-type": "application/json",
        ...sent.headers,
      },
    });
  const importState = (state: State) => control("PUT", "/state", { text: formatSeed(state) });
  return { service, clock, faults, send, control, importState };
};
