import * as z from "zod";
import type { Operation } from "../contract/operation.ts";
import { ProviderError } from "./provider-error.ts";

/** Failures before the first byte of the request leaves: name, route, connection or certificate. */
const NEVER_LEFT = new Set([
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const codedSchema = z.object({ code: z.string() });
const causedSchema = z.object({ cause: z.unknown() });

/** fetch wraps the network's error; the code is on it or on its cause. */
const networkCode = (error: unknown): string | undefined => {
  const coded = codedSchema.safeParse(error);
  if (coded.success) return coded.data.code;
  const caused = causedSchema.safeParse(error);
  return caused.success && caused.data.cause !== undefined
    ? networkCode(caused.data.cause)
    : undefined;
};

/**
 * Turns a fetch that rejected into an error with its disposition.
 * @param timedOut whether our own deadline for the attempt ended it
 */
export const failureOf = (
  operation: Operation,
  error: unknown,
  timedOut: boolean,
): ProviderError => {
  const code = networkCode(error);
  if (code !== undefined && NEVER_LEFT.has(code)) {
    return new ProviderError({
      disposition: "transient",
      code: "connection-failed",
      message: `${operation.id}: no connection (${code})`,
      cause: error,
    });
  }
  return new ProviderError({
    disposition: operation.kind === "mutation" ? "ambiguous" : "transient",
    code: timedOut ? "timed-out" : "connection-lost",
    message: `${operation.id}: ${timedOut ? "no answer in time" : `connection lost${code ? ` (${code})` : ""}`}`,
    cause: error,
  });
};
