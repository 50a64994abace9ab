import type { Mutation } from "../contract/operation.ts";
import { COMMANDED } from "../contract/operations.ts";
import type { Command } from "../engine/command.ts";
import { redactorOf } from "../engine/redaction.ts";
import type { CommandRequestBody } from "../engine/request-body.ts";
import type { JsonObject, JsonValue } from "../platform/ports/ledger.ts";

const REDACTED = "[redacted]";

/** A copy with `change` applied to every text. */
const withTexts = (value: JsonValue, change: (text: string) => string): JsonValue => {
  if (typeof value === "string") return change(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((each: JsonValue) => withTexts(each, change));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withTexts(each, change)]),
  );
};

/**
 * A body with secrets redacted: secret fields, and their values in other texts. Redacts every field of an
 * unknown operation.
 */
export const redactedBody = (
  operation: Mutation | undefined,
  request: CommandRequestBody,
): JsonObject | undefined => {
  if (!request.body) return undefined;
  const secret = new Set<string>(operation?.secrets ?? []);
  const redact = operation ? redactorOf(operation, request) : () => REDACTED;
  return Object.fromEntries(
    Object.entries(request.body).map(([name, value]) => [
      name,
      !operation || secret.has(`body.${name}`) ? REDACTED : withTexts(value, redact),
    ]),
  );
};

/** The request of a command. The end of a command erases it, because it may hold secrets. */
export type StoredRequest =
  | {
      readonly state: "kept";
      readonly params: JsonObject;
      readonly query: JsonObject;
      /** Secrets redacted; absent where the operation takes none. */
      readonly body?: JsonObject;
    }
  | { readonly state: "erased" };

export const storedRequest = ({ operation, request }: Command): StoredRequest => {
  if (!request) return { state: "erased" };
  // A newer version may have accepted an operation that this one does not know.
  const known = COMMANDED.find(({ id }) => id === operation);
  const body = redactedBody(known, request);
  const { params, query } = request;
  return { state: "kept", params, query, ...(body && { body }) };
};
