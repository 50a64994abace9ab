import { SSMClient } from "@aws-sdk/client-ssm";
import { expect, test } from "vitest";
import { createSsmSecrets } from "../../../lib/platform/aws/ssm-secrets.ts";
import { createStubAws, type StubReply } from "../../support/stub-aws.ts";
import { describeSecretsContract } from "./secrets-contract.ts";

const missing: StubReply = { status: 400, body: { __type: "ParameterNotFound", message: "" } };

describeSecretsContract("SSM, against its documented answers", async () => {
  let value: string | undefined;
  const aws = createStubAws(() =>
    value === undefined ? missing : { status: 200, body: { Parameter: { Value: value } } },
  );
  return {
    secrets: createSsmSecrets({ client: new SSMClient(aws.clientConfig) }),
    reference: "/skyhook/main/api-key",
    async put(text) {
      value = text;
    },
    remove: async () => undefined,
  };
});

const open = (reply: StubReply) => {
  const aws = createStubAws(() => reply);
  return { aws, secrets: createSsmSecrets({ client: new SSMClient(aws.clientConfig) }) };
};

const everythingIn = (error: unknown): string =>
  error instanceof Error ? `${error.stack} ${JSON.stringify(error)} ${error.cause}` : String(error);

test("a secret is read decrypted", async () => {
  const { aws, secrets } = open({ status: 200, body: { Parameter: { Value: "key-123" } } });

  expect(await secrets.read("/skyhook/main/api-key")).toBe("key-123");

  expect(aws.requests).toEqual([
    {
      operation: "GetParameter",
      body: { Name: "/skyhook/main/api-key", WithDecryption: true },
    },
  ]);
});

test("a missing parameter rejects with its name and the reason", async () => {
  const { secrets } = open(missing);

  await expect(secrets.read("/skyhook/main/api-key")).rejects.toThrow(
    "secret /skyhook/main/api-key cannot be read: ParameterNotFound",
  );
});

test("a parameter without a value rejects with its name", async () => {
  const { secrets } = open({ status: 200, body: { Parameter: { Name: "x" } } });

  await expect(secrets.read("/skyhook/main/api-key")).rejects.toThrow(
    "secret /skyhook/main/api-key cannot be read: the parameter has no value",
  );
});

test("the error for a truncated reply does not contain the secret", async () => {
  const { secrets } = open({ status: 200, body: '{"Parameter":{"Value":"key-123","Vers' });

  const error = await secrets.read("/skyhook/main/api-key").catch((caught: unknown) => caught);

  expect(error).toBeInstanceOf(Error);
  expect(everythingIn(error)).toContain("/skyhook/main/api-key");
  expect(everythingIn(error)).not.toContain("key-123");
});
