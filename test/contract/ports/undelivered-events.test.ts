import { describe, expect, test } from "vitest";
import { undeliveredCall } from "../../../lib/platform/aws/sqs-dead-letters.ts";

const EVENT = { id: "e1", account: "111122223333", "detail-type": "InvoicePaid", detail: {} };
const REACTIONS = "skyhook-prod-reaction-";
const ruleArn = (rule: string): string => `arn:aws:events:eu-west-1:444455556666:rule/${rule}`;
const ON_OUR_BUS = "skyhook-prod-events/skyhook-prod-";

const callOf = (body: unknown, rule?: string): unknown =>
  JSON.parse(undeliveredCall(REACTIONS, JSON.stringify(body), rule && ruleArn(rule)));

/** As Lambda writes it to an on-failure destination. Source: Lambda's developer guide. */
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

describe("an event that did not reach the queue of intake", () => {
  test("is, where intake failed at it while rules called it, what the rule called it with", () => {
    expect(callOf(recordOf(EVENT))).toEqual(EVENT);
    expect(callOf(recordOf({ reaction: "paid", event: EVENT }))).toEqual({
      reaction: "paid",
      event: EVENT,
    });
  });

  test("is the event itself where the rule of requests could not deliver it", () => {
    expect(callOf(EVENT, `${ON_OUR_BUS}commands-requested`)).toEqual(EVENT);
  });

  test.each([`${ON_OUR_BUS}reaction-paid`, "skyhook-prod-reaction-paid"])(
    "names its reaction where %s could not deliver it",
    (rule) => {
      expect(callOf(EVENT, rule)).toEqual({ reaction: "paid", event: EVENT });
    },
  );

  test("names its reaction once where the rule has named it already", () => {
    const call = { reaction: "paid", event: EVENT };

    expect(callOf(call, `${ON_OUR_BUS}reaction-paid`)).toEqual(call);
  });

  test("is not taken for a reaction's by the name of another stage", () => {
    expect(callOf(EVENT, "skyhook-test-events/skyhook-test-reaction-paid")).toEqual(EVENT);
  });

  test("stays as it is where it is no JSON", () => {
    expect(undeliveredCall(REACTIONS, "{", ruleArn("skyhook-prod-reaction-paid"))).toBe("{");
  });
});
