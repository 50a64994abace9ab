import { expect, test } from "vitest";
import { awsTrouble } from "../../../lib/cli/admin/aws.ts";

const errorOf = (fields: object): Error => Object.assign(new Error("what AWS says"), fields);
const inWords = (fields: object) => awsTrouble(errorOf(fields), "there is no such thing");

test.each([
  ["the ledger's", { name: "AccessDeniedException", $metadata: { httpStatusCode: 400 } }],
  ["the queue's", { name: "AccessDenied", $metadata: { httpStatusCode: 403 } }],
  [
    "that of a key that is gone",
    { name: "InvalidClientTokenId", $metadata: { httpStatusCode: 403 } },
  ],
])("a refusal by AWS has status 2: %s", (_which, fields) => {
  expect(inWords(fields)).toMatchObject({
    exitCode: 2,
    message: "AWS refuses the request: what AWS says",
  });
});

test.each(["QueueDoesNotExist", "ResourceNotFoundException"])(
  "a missing resource is an error that names what to check: %s",
  (name) => {
    expect(inWords({ name })).toMatchObject({
      exitCode: 2,
      message: "there is no such thing; check --stage and AWS_REGION",
    });
  },
);

test("an AWS time-out is reported with the settings to check, without the SDK's text", () => {
  expect(inWords({ name: "TimeoutError", code: "ETIMEDOUT" })).toMatchObject({
    exitCode: 3,
    message:
      "AWS did not answer in time; check the network, AWS_REGION, and AWS_ENDPOINT_URL if it is set",
  });
});

test("an unexpected error stays unchanged", () => {
  const error = errorOf({ name: "InternalServerError", $metadata: { httpStatusCode: 500 } });

  expect(awsTrouble(error, "there is no such thing")).toBe(error);
});
