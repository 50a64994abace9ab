import * as z from "zod";
import type { Operation } from "../contract/operation.ts";
import { type Disposition, ProviderError, type ProviderErrorCode } from "./provider-error.ts";

/** Failures before the first byte of the request leaves: name, connection or certificate. */
const NEVER_LEFT_CODES = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ENOTFOUND",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** A reset or a lost route has one code before and after sending; the system call tells which. */
const NEVER_LEFT_CALLS = new Set(["connect", "getaddrinfo"]);

const text = z.string().optional().catch(undefined);
const networkErrorSchema = z.object({
  message: text,
  code: text,
  syscall: text,
  /** One error an address, when a name has several. */
  errors: z.array(z.unknown()).optional().catch(undefined),
  cause: z.unknown().optional(),
});
type NetworkError = z.output<typeof networkErrorSchema>;

/** fetch wraps the network's error: the facts are on the first of its causes that has a code. */
const networkErrorOf = (error: unknown): NetworkError | undefined => {
  const { data } = networkErrorSchema.safeParse(error);
  return data === undefined || data.code !== undefined || data.cause === undefined
    ? data
    : networkErrorOf(data.cause);
};

const hasNeverLeft = (error: unknown): boolean => {
  const { code = "", syscall = "", errors = [] } = networkErrorOf(error) ?? {};
  return errors.length > 0
    ? errors.every(hasNeverLeft)
    : NEVER_LEFT_CODES.has(code) || NEVER_LEFT_CALLS.has(syscall);
};

/** Who stopped the attempt: our own deadline for it, the caller, or nobody. */
export type StoppedBy = "deadline" | "caller" | "nobody";

/** Turns a fetch that rejected into an error with its disposition. */
export const failureOf = (
  operation: Operation,
  error: unknown,
  stoppedBy: StoppedBy,
): ProviderError => {
  const { code: networkCode, message = "" } = networkErrorOf(error) ?? {};
  const detail = networkCode ? ` (${networkCode})` : "";
  // Only its text: fetch's own error can hold the bytes that came back, our header among them.
  const cause = new Error(message);
  const after = operation.kind === "mutation" ? "ambiguous" : "transient";
  const failure = (disposition: Disposition, code: ProviderErrorCode, text: string) =>
    new ProviderError({ disposition, code, message: `${operation.id}: ${text}`, cause });
  switch (stoppedBy) {
    case "deadline":
      return failure(after, "timed-out", "no answer in time");
    case "caller":
      return failure(after, "aborted", "stopped before the answer");
    case "nobody":
      return hasNeverLeft(error)
        ? failure("transient", "connection-failed", `no connection${detail}`)
        : failure(after, "connection-lost", `connection lost${detail}`);
    default:
      return stoppedBy satisfies never;
  }
};
