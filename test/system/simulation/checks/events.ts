import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";

/**
 * Invariant 5: no event reports a state that is not durable. The recording bus has compared each
 * publication with the ledger and with the catalogue. Also, the service had no internal error.
 */
export const checkEvents = async ({ bus, provider }: Cloud): Promise<readonly Violation[]> => [
  ...bus.broken().map((text) => ({ invariant: 5, text })),
  ...provider.faults.map((text) => ({ invariant: 0, text })),
];
