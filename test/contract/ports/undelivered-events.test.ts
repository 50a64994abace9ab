import { describe, expect, test } from "vitest";
import { undeliveredCall } from "../../../lib/platform/aws/sqs-dead-letters.ts";

const EVENT = { id: "e1", account: "111122223333", "detail-type": "InvoicePaid", detail: {} };
const REACTIONS = "skyhook-prod-reaction-";
const ruleArn = (rule: string): string => `arn:aws:events:eu-west-1:444455556666:rule/${rule}`;
const ON_OUR_BUS = "skyhook-prod-events/skyhook-prod-";

const callOf = (body: unknown, rule?: string): unknown =>
  JSON.parse(undeliveredCall(REACTIONS, JSON.stringify(body), rule && ruleArn(rule)));

/** The format of Lambda's on-failure destinations. Source: Lambda developer guide. */
const recordOf = (requestPayload: unknown) => ({
  version: "1.0",
  timestamp: "2026-01-31T12:00:00.500Z",
  requestContext: {
    requestId: "e4b46cbf-b738-xmpl-8880-a18cdf61200e",
    functionArn: "arn:aws:lambda:eu-west-1:444455556666:function:skyhook-prod-intake:$LATEST",
    condition: "RetriesExhausted",
    approximateInvokeCount: 3,
  },
  requestPayload,
  responseContext: { statusCode: 200, executedVersion: "$LATEST", functionError: "Unhandled" },
  responsePayload: { errorType: "Error", errorMessage: "ledger is away" },
});

describe("an event that did not reach the intake queue", () => {
  test("is the input of the rule if intake failed while rules called it directly", () => {
    expect(callOf(recordOf(EVENT))).toEqual(EVENT);
    expect(callOf(recordOf({ reaction: "paid", event: EVENT }))).toEqual({
      reaction: "paid",
      event: EVENT,
    });
  });

  test("is the event itself if the rule for requests could not deliver it", () => {
    expect(callOf(EVENT, `${ON_OUR_BUS}commands-requested`)).toEqual(EVENT);
  });

  test.each([`${ON_OUR_BUS}reaction-paid`, "skyhook-prod-reaction-paid"])(
    "has the name of its reaction if %s could not deliver it",
    (rule) => {
      expect(callOf(EVENT, rule)).toEqual({ reaction: "paid", event: EVENT });
    },
  );

  test("has the name of its reaction only once if the rule added it already", () => {
    const call = { reaction: "paid", event: EVENT };

    expect(callOf(call, `${ON_OUR_BUS}reaction-paid`)).toEqual(call);
  });

  test("does not count as the event of a reaction if the rule belongs to another stage", () => {
    expect(callOf(EVENT, "skyhook-test-events/skyhook-test-reaction-paid")).toEqual(EVENT);
  });

  test("stays unchanged if it is not JSON", () => {
    expect(undeliveredCall(REACTIONS, "{", ruleArn("skyhook-prod-reaction-paid"))).toBe("{");
  });
});
