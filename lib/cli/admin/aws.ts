import * as z from "zod";
import type { Clock } from "../../platform/ports/clock.ts";
import { EXIT, ExitError } from "../exit-code.ts";

/** An AWS client, which learns the time of AWS from its first reply. */
interface AwsTime {
  /** Lead of AWS's clock over this machine's, ms. */
  readonly config: { readonly systemClockOffset: number };
}

/**
 * AWS's clock, to within seconds, after the client's first call. The functions write leases by that clock, and
 * the clock of this machine may be hours off.
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

/** Names of refusals. A refusal under another name has status 403. */
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
 * Turns an AWS error into an ExitError of one sentence; returns any other error unchanged.
 * @param missing the sentence for a resource that does not exist
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
    return new ExitError(EXIT.refused, "no AWS region: set AWS_REGION to the region of the stage");
  }
  if (MISSING.has(name)) {
    return new ExitError(EXIT.refused, `${missing}; check --stage and AWS_REGION`);
  }
  if (REFUSALS.has(name) || $metadata?.httpStatusCode === 403) {
    return new ExitError(EXIT.refused, `AWS refuses the request: ${message}`);
  }
  if (name === "TimeoutError") {
    const hint = "check the network, AWS_REGION, and AWS_ENDPOINT_URL if it is set";
    return new ExitError(EXIT.unreachable, `AWS did not answer in time; ${hint}`);
  }
  if (NO_NETWORK.has(code)) {
    return new ExitError(
      EXIT.unreachable,
      `AWS does not answer (${message || code}); check the network, AWS_REGION, and AWS_ENDPOINT_URL if it is set`,
    );
  }
  return error;
};

/** The name of a stage's resource, by the rule of infra/names.cjs. */
export const stageResource = (stage: string, resource: string): string =>
  `skyhook-${stage}-${resource}`;
