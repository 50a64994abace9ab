import { createHttpFaults, type HttpFault, type HttpFaults } from "./http-faults.ts";
import { startProvider } from "./provider.ts";
import { createWorld, type WorldOptions } from "./world.ts";

/** Faults that lose the reply to a mutation. */
export const LOSSES = [
  "the connection breaks before the effect",
  "the connection breaks after the effect",
  "fails after the effect",
  "a gateway answers HTML 504 before the effect",
  "a gateway answers HTML 504 after the effect",
  "the reply is cut off",
] as const satisfies readonly HttpFault[];
export type Loss = (typeof LOSSES)[number];

/** A world over the embedded service that loses the replies to the first mutations. */
export const createLossyWorld = async (
  losses: readonly Loss[],
  options: Partial<WorldOptions> = {},
) => {
  const started: { service: Awaited<ReturnType<typeof startProvider>>; faults: HttpFaults }[] = [];
  const world = await createWorld({
    ...options,
    provider: async (clock) => {
      const service = await startProvider(clock);
      const faults = createHttpFaults(service.fetch, clock, ({ method }) => method !== "GET");
      faults.strike(...losses);
      started.push({ service, faults });
      return { ...service, fetch: faults.fetch };
    },
  });
  const [first] = started;
  if (!first) throw new Error("the world has not requested a provider");
  return {
    world,
    records: first.service.records,
    /** Number of mutations sent. */
    sent: first.faults.seen,
    service: first.service.fetch,
  };
};
