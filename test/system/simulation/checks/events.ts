import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";

/**
 * Invariant 5: no event tells of a state that is not durable. The bus has looked into the ledger at
 * the moment of each publication, and at the catalogue. And the service has had no fault of its own.
 */
export const checkEvents = async ({ bus, provider }: Cloud): Promise<readonly Violation[]> => [
  ...bus.broken().map((text) => ({ invariant: 5, text })),
  ...provider.faults.map((text) => ({ invariant: 0, text })),
];
