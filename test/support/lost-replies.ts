import { connectionLost, type Fetch, json, startProvider } from "./provider.ts";
import { createWorld, type WorldOptions } from "./world.ts";

/** How the reply to a mutation gets lost. */
export const LOSSES = {
  "the connection breaks before the effect": async (_send: () => Promise<Response>) =>
    connectionLost(),
  "the connection breaks after the effect": async (send: () => Promise<Response>) => {
    await send();
    return connectionLost();
  },
  "a gateway answers 502 after the effect": async (send: () => Promise<Response>) => {
    await send();
    return json(502, { message: "bad gateway" });
  },
  "the reply is cut off": async (send: () => Promise<Response>) => {
    const reply = await send();
    return new Response((await reply.text()).slice(0, -5) || "<html>", { status: 200 });
  },
} as const;
export type Loss = keyof typeof LOSSES;

/** Loses the replies to the first mutations. */
const losing =
  (service: Fetch, losses: readonly Loss[]): Fetch =>
  async (request) => {
    const loss = request.method === "GET" ? undefined : losses[mutationsOf(service)];
    if (request.method !== "GET") mutations.set(service, mutationsOf(service) + 1);
    if (loss === undefined) return service(request);
    const answer = await LOSSES[loss](() => service(request));
    if (answer instanceof Error) throw answer;
    return answer;
  };
const mutations = new WeakMap<Fetch, number>();
const mutationsOf = (service: Fetch): number => mutations.get(service) ?? 0;

/** A world over the embedded service that loses the replies to the first mutations. */
export const createLossyWorld = async (
  losses: readonly Loss[],
  options: Partial<WorldOptions> = {},
) => {
  const services: Awaited<ReturnType<typeof startProvider>>[] = [];
  const world = await createWorld({
    ...options,
    provider: async (clock) => {
      const service = await startProvider(clock);
      services.push(service);
      return { ...service, fetch: losing(service.fetch, losses) };
    },
  });
  const [service] = services;
  if (!service) throw new Error("the world has asked for no provider");
  return {
    world,
    records: service.records,
    /** Mutations that have been sent. */
    sent: () => mutationsOf(service.fetch),
    service: service.fetch,
  };
};
