import * as z from "zod";
import type { Clock } from "../../platform/ports/clock.ts";
import { EXIT, ExitError } from "../exit-code.ts";

/** A client of AWS that has the time of AWS from its first reply. */
interface AwsTime {
  /** How far AWS's clock is ahead of this machine's, ms. */
  readonly config: { readonly systemClockOffset: number };
}

/**
 * AWS's clock, to within seconds, after the client's first call. Leases are written by that clock, and
 * AWS also serves a machine with a clock that is hours off.
 */
export const awsClock = (clock: Clock, { config }: AwsTime): Clock => ({
  ...clock,
  now: () => clock.now() + config.systemClockOffset,
});

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

const MISSING: ReadonlySet<string> = new Set(["QueueDoesNotExist", "ResourceNotFoundException"]);

/** Names of a refusal; a status 403 is one, too, under many names. */
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
 * An error of AWS as one sentence for a person; any other error as it is.
 * @param missing the sentence for a resource that AWS does not know
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
  if (MISSING.has(name)) {
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

/** The name of a resource of a stage (infra/names.cjs). */
export const stageResource = (stage: string, resource: string): string =>
  `skyhook-${stage}-${resource}`;
