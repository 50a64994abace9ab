import { demoState } from "../../lib/cli/demo/world.ts";
import { createSystemClock, createSystemRandom } from "../../lib/platform/system.ts";
import { type ServedService, serve } from "../../lib/service/serve.ts";
import { createService } from "../../lib/service/service.ts";
import { BUILT_IN_API_KEYS } from "../../lib/service/state/keys.ts";
import { createMemoryStore } from "../../lib/service/store.ts";

const TASK_MS = 500;
/** Later than the first check of AI tasks, which runs a minute after the deployment. */
const AI_TASK_MS = 100_000;

export interface ProviderService extends ServedService {
  readonly apiKey: string;
  /** A second API key of the same client. */
  readonly newApiKey: string;
  /** Makes a key invalid, like one that never existed. */
  revoke(apiKey: string): void;
}

/** The provider of the deployed functions: the service, on this machine. */
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
