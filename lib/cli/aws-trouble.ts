import * as z from "zod";
import { EXIT, ExitError } from "./exit-code.ts";

const awsErrorSchema = z.looseObject({
  name: z.string(),
  message: z.string(),
  code: z.string().optional().catch(undefined),
  $metadata: z.looseObject({ httpStatusCode: z.int().optional() }).optional().catch(undefined),
});

const NO_NETWORK: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "ENETUNREACH",
  "ENOTFOUND",
  "ETIMEDOUT",
]);

const NOT_THERE: ReadonlySet<string> = new Set(["QueueDoesNotExist", "ResourceNotFoundException"]);

/** What AWS answers whoever may not do what was asked; a 403 says the same, under many names. */
const REFUSALS: ReadonlySet<string> = new Set([
  "AccessDenied",
  "AccessDeniedException",
  "ExpiredTokenException",
  "IncompleteSignature",
  "InvalidSignatureException",
  "MissingAuthenticationTokenException",
  "UnrecognizedClientException",
]);

/**
 * What AWS said, as one sentence for a person.
 * @param missing what is not there when AWS knows no such resource
 */
export const awsTrouble = (error: unknown, missing: string): unknown => {
  const known = awsErrorSchema.safeParse(error);
  if (!known.success) return error;
  const { name, message, code = "", $metadata } = known.data;
  if (name === "CredentialsProviderError") {
    return new ExitError(
      EXIT.refused,
      "no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    );
  }
  if (/^Region (is missing|not accepted)/.test(message)) {
    return new ExitError(EXIT.refused, "no AWS region: set AWS_REGION to the one of the stage");
  }
  if (NOT_THERE.has(name)) {
    return new ExitError(EXIT.refused, `${missing}; look at the stage's name and at AWS_REGION`);
  }
  if (REFUSALS.has(name) || $metadata?.httpStatusCode === 403) {
    return new ExitError(EXIT.refused, `AWS refuses: ${message}`);
  }
  if (name === "TimeoutError") {
    const hint = "look at the network, at AWS_REGION, and at AWS_ENDPOINT_URL if it is set";
    return new ExitError(EXIT.unreachable, `AWS did not answer in time: ${hint}`);
  }
  if (NO_NETWORK.has(code)) {
    return new ExitError(EXIT.unreachable, `AWS does not answer: ${message || code}`);
  }
  return error;
};
