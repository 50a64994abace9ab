import { demoState } from "../../lib/cli/demo/world.ts";
import { createSystemClock, createSystemRandom } from "../../lib/platform/system.ts";
import { type ServedService, serve } from "../../lib/service/serve.ts";
import { createService } from "../../lib/service/service.ts";
import { BUILT_IN_API_KEYS } from "../../lib/service/state/keys.ts";
import { createMemoryStore } from "../../lib/service/store.ts";

const TASK_MS = 500;
/** After the first tick of the schedule that looks at it, a minute after the deploy. */
const AI_TASK_MS = 100_000;

export interface ProviderService extends ServedService {
  readonly apiKey: string;
  /** Another one of the same client. */
  readonly newApiKey: string;
  /** From now on it is as if there had never been that key. */
  revoke(apiKey: string): void;
}

/** The provider that deployed functions ask: our service, on this machine. */
export const serveProvider = async (): Promise<ProviderService> => {
  const clock = createSystemClock();
  const newApiKey = "rotated";
  const revoked = new Set<string>();
  const service = await createService({
    apiKey: newApiKey,
    clock,
    random: createSystemRandom(),
    store: createMemoryStore(),
    initialState: demoState(clock.now() + AI_TASK_MS),
    taskDurationMs: TASK_MS,
    onFault: (error) => {
      throw error;
    },
  });
  const fetch = (request: Request): Promise<Response> => {
    const { headers } = request;
    const given = headers.get("authorization")?.replace("apikey ", "") ?? "";
    if (revoked.has(given)) headers.set("authorization", "apikey gone");
    return service.fetch(request);
  };
  return {
    ...(await serve({ ...service, fetch }, 0)),
    apiKey: BUILT_IN_API_KEYS.first,
    newApiKey,
    revoke(apiKey) {
      revoked.add(apiKey);
    },
  };
};
