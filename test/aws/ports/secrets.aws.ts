import { randomUUID } from "node:crypto";
import {
  DeleteParametersCommand,
  GetParameterCommand,
  PutParameterCommand,
} from "@aws-sdk/client-ssm";
import { expect, inject, onTestFinished, test } from "vitest";
import { createSsmSecrets } from "../../../lib/platform/aws/ssm-secrets.ts";
import { describeSecretsContract } from "../../contract/ports/secrets-contract.ts";
import { createAwsClients } from "../aws-clients.ts";

const { ssm: client } = createAwsClients(inject("awsEndpoint"));

const openParameter = async () => {
  const Name = `/skyhook/test-${randomUUID()}/api-key`;
  return {
    secrets: createSsmSecrets({ client }),
    reference: Name,
    async put(Value: string) {
      await client.send(
        new PutParameterCommand({ Name, Value, Type: "SecureString", Overwrite: true }),
      );
    },
    async remove() {
      await client.send(new DeleteParametersCommand({ Names: [Name] }));
    },
  };
};

describeSecretsContract("SSM, on an emulator", openParameter);

test("a SecureString is read decrypted, and not without asking for that", async () => {
  const { secrets, reference, put, remove } = await openParameter();
  onTestFinished(remove);
  await put("key-123");

  const { Parameter } = await client.send(new GetParameterCommand({ Name: reference }));

  expect(Parameter?.Value).not.toContain("key-123");
  expect(await secrets.read(reference)).toBe("key-123");
});

test("a missing parameter is distinguished from other errors", async () => {
  const { secrets, reference } = await openParameter();

  await expect(secrets.read(reference)).rejects.toThrow(
    `secret ${reference} cannot be read: ParameterNotFound`,
  );
});
