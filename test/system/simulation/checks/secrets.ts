import { commands } from "../../../../lib/engine/command.ts";
import type { LedgerItem } from "../../../../lib/platform/ports/ledger.ts";
import { API_KEY } from "../cloud/api-keys.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { ENVS_CANARY, PULL_SECRET_CANARY } from "../plan/requests.ts";

const CANARIES = [API_KEY, ENVS_CANARY, PULL_SECRET_CANARY];

/** A secret in plain form and in encoded forms, at any offset in a longer text. */
const formsOf = (canary: string): readonly string[] => [
  canary,
  Buffer.from(canary).toString("hex"),
  // Leaves out the characters at both ends that depend on neighbouring bytes.
  ...[0, 1, 2].map((offset) =>
    Buffer.from("-".repeat(offset) + canary)
      .toString("base64")
      .slice(offset === 0 ? 0 : 4, -4),
  ),
];

const FORMS = CANARIES.map((canary) => ({ canary, forms: formsOf(canary) }));

const canariesIn = (text: string): readonly string[] =>
  FORMS.filter(({ forms }) => forms.some((form) => text.includes(form))).map(
    ({ canary }) => canary,
  );

/** The stored request of a running command may hold secrets; nothing else may. */
const withoutRequest = ({ key, value }: LedgerItem): string => {
  const mayHold = key.startsWith(`${commands.kind}#`) && "request" in value;
  return JSON.stringify(mayHold ? { ...value, request: undefined } : value);
};

/** Checks every write: later erasure does not undo it. */
export const watchSecrets = ({ ledger, chronicle }: Cloud): void => {
  ledger.onWrite((item) => {
    const found = canariesIn(withoutRequest(item));
    const keys = JSON.stringify(item).includes(API_KEY) ? [API_KEY] : [];
    for (const canary of new Set([...found, ...keys])) {
      chronicle.violations.push({ invariant: 8, text: `${canary} in ledger item ${item.key}` });
    }
  });
};

/**
 * Invariant 8: API keys are nowhere; `envs` and `pull_secret` are at most in the request of a running
 * command.
 */
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
