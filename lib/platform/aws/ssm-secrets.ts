import { GetParameterCommand, type SSMClient } from "@aws-sdk/client-ssm";
import type { Secrets } from "../ports/secrets.ts";

export interface SsmSecretsOptions {
  readonly client: SSMClient;
}

/** Secrets from SSM parameters, read and decrypted anew each time. */
export const createSsmSecrets = ({ client }: SsmSecretsOptions): Secrets => ({
  async read(reference) {
    const failed = (reason: string) => new Error(`secret ${reference} cannot be read: ${reason}`);
    const reply = await client
      .send(new GetParameterCommand({ Name: reference, WithDecryption: true }))
      // Only the name, and no cause: the SDK's error for an unreadable reply carries the reply's
      // text, which is the secret.
      .catch((error: unknown) => {
        throw failed(error instanceof Error ? error.name : "UnknownError");
      });
    const value = reply.Parameter?.Value;
    if (value === undefined) throw failed("the parameter has no value");
    return value;
  },
});
