import { createService } from "../../../lib/service/service.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { builtInState, type State } from "../../../lib/service/state/state.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { PLACE } from "../../support/requests.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";

/** Operations of the commands: one that answers at once, and one that begins a task. */
export type OperationName = "update-policy" | "update-container";

/** A resource for each command, because a lane and an update's lock would hold others up. */
const stateWith = (operation: OperationName, resources: number): State => {
  const state = builtInState();
  const [container] = state.containers;
  const [policy] = state.lifecycle_policies;
  if (!container || !policy) throw new Error("the built-in state lacks a container or a policy");
  const numbers = Array.from({ length: resources }, (_, index) => index + 1);
  return operation === "update-policy"
    ? { ...state, lifecycle_policies: numbers.map((id) => ({ ...policy, id })) }
    : { ...state, containers: numbers.map((id) => ({ ...container, name: `container-${id}` })) };
};

/** `data` of the request for the resource with this number, from 1. */
export const requestData = (operation: OperationName, number: number) =>
  operation === "update-policy"
    ? { operation, params: { ...PLACE, policy_id: number }, body: { status: "paused" } }
    : {
        operation,
        params: { ...PLACE, container_name: `container-${number}` },
        body: { timeout: 60 },
      };

const numberIn = ({ url }: Request): number => Number(/(\d+)$/.exec(new URL(url).pathname)?.[1]);

export interface ProviderOptions {
  readonly clock: VirtualClock;
  readonly operation: OperationName;
  readonly resources: number;
  readonly taskMs: number;
}

/** The embedded service on virtual time. Its answers need no time; the caller adds that of the network. */
export const openProvider = async ({ clock, operation, resources, taskMs }: ProviderOptions) => {
  const service = await createService({
    clock,
    random: createSeededRandom(7),
    store: createMemoryStore(),
    initialState: stateWith(operation, resources),
    taskDurationMs: taskMs,
    onFault: (error) => {
      throw error;
    },
  });
  const changedAt = new Map<number, number>();
  return {
    apiKey: BUILT_IN_API_KEYS.first,
    /** When the mutation of the resource with this number took effect, epoch ms. */
    changedAt: (number: number): number | undefined => changedAt.get(number),
    /** The instants of all mutations, epoch ms. */
    changes: (): readonly number[] => [...changedAt.values()],
    fetch: (request: Request): Promise<Response> =>
      clock.standStill(async () => {
        const response = await service.fetch(request);
        const { status, headers } = response;
        if (request.method === "PATCH" && status === 200) {
          changedAt.set(numberIn(request), clock.now());
        }
        // The caller can read a text without turns of the event loop, in which time could pass.
        return new Response(await response.text(), { status, headers });
      }),
  };
};

export type Provider = Awaited<ReturnType<typeof openProvider>>;
