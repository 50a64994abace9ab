import { commands } from "../../../lib/ledger/command.ts";
import type { LedgerItem } from "../../../lib/ports/ledger.ts";
import type { Violation } from "../cloud/chronicle.ts";
import { API_KEY, type Cloud } from "../cloud/cloud.ts";
import { ENVS_CANARY, PULL_SECRET_CANARY } from "../plan/inputs.ts";

const CANARIES = [API_KEY, ENVS_CANARY, PULL_SECRET_CANARY];

const canariesIn = (text: string): readonly string[] =>
  CANARIES.filter((canary) => text.includes(canary));

/** The stored request of a command that goes on may hold what it was given; nothing else may. */
const withoutRequest = ({ key, value }: LedgerItem): string => {
  const mayHold = key.startsWith(`${commands.kind}#`) && "request" in value;
  return JSON.stringify(mayHold ? { ...value, request: undefined } : value);
};

/** Looks at every write: what is erased later was there. */
export const watchSecrets = ({ ledger, chronicle }: Cloud): void => {
  ledger.onWrite((item) => {
    const found = canariesIn(withoutRequest(item));
    const keys = JSON.stringify(item).includes(API_KEY) ? [API_KEY] : [];
    for (const canary of new Set([...found, ...keys])) {
      chronicle.violations.push({ invariant: 8, text: `${canary} in ledger item ${item.key}` });
    }
  });
};

/** Invariant 8: API keys are nowhere; `envs` and `pull_secret` are in a request that goes on, at most. */
export const checkSecrets = async ({
  ledger,
  bus,
  chronicle,
}: Cloud): Promise<readonly Violation[]> => {
  const places: readonly (readonly [string, string])[] = [
    ["the log", JSON.stringify(chronicle.lines)],
    ["an event", JSON.stringify(bus.taken())],
    ["the ledger at rest", JSON.stringify([...ledger.items])],
  ];
  return places.flatMap(([place, text]) =>
    canariesIn(text).map((canary) => ({ invariant: 8, text: `${canary} in ${place}` })),
  );
};
