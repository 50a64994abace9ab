import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import type { Secrets } from "../ports/secrets.ts";
import { createAwsClient } from "./aws-client.ts";

export interface SsmSecretsOptions {
  /** Default: one with the credentials and the region of this process. */
  readonly client?: SSMClient;
}

/** Secrets in SSM parameters; each call reads and decrypts again. */
export const createSsmSecrets = ({
  client = createAwsClient(SSMClient),
}: SsmSecretsOptions = {}): Secrets => ({
  async read(reference) {
    const failed = (reason: string) => new Error(`secret ${reference} cannot be read: ${reason}`);
    const reply = await client
      .send(new GetParameterCommand({ Name: reference, WithDecryption: true }))
      // Only the error's name, without a cause: the SDK's error for an unreadable response contains the
      // response text, and so the secret.
      .catch((error: unknown) => {
        throw failed(error instanceof Error ? error.name : "UnknownError");
      });
    const value = reply.Parameter?.Value;
    if (value === undefined) throw failed("the parameter has no value");
    return value;
  },
});
