import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isScalar, parseDocument, type ScalarTag } from "yaml";
import * as z from "zod";
import { deployment } from "../../../lib/platform/deployment.ts";
import { conditionHolds } from "./policy-condition.ts";

/** CloudFormation's short forms of intrinsic functions, expanded. */
const tag = (name: string, resolve: (text: string) => unknown): ScalarTag => ({
  tag: `!${name}`,
  resolve,
});
const SHORT_FORMS = [
  tag("Ref", (text) => ({ Ref: text })),
  tag("Sub", (text) => ({ "Fn::Sub": text })),
  tag("GetAtt", (text) => ({ "Fn::GetAtt": text.split(".") })),
];

const templateSchema = z.object({
  Parameters: z.record(z.string(), z.looseObject({ Type: z.string() })),
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()) }),
  ),
  Outputs: z.record(z.string(), z.object({ Description: z.string(), Value: z.unknown() })),
});

const readTemplate = () => {
  const text = readFileSync("infra/other-account.yaml", "utf8");
  const document = parseDocument(text, { customTags: SHORT_FORMS });
  if (!isScalar(document.get("Description", true))) throw new Error("no Description");
  return templateSchema.parse(document.toJS());
};

const { Parameters, Resources, Outputs } = readTemplate();
const properties = (id: string) => Resources[id]?.Properties;
const arn = (id: string) => ({ "Fn::GetAtt": [id, "Arn"] });
const OWN_ACCOUNT = { Ref: "AWS::AccountId" };

describe("the template of another AWS account", () => {
  test("creates one bus, one rule with its role, and one dead-letter queue", () => {
    const types = Object.entries(Resources).map(([id, { Type }]) => `${id} ${Type}`);

    expect(types).toEqual([
      "SkyhookEvents AWS::Events::EventBus",
      "OnlySkyhookMayPut AWS::Events::EventBusPolicy",
      "EventsToSkyhook AWS::Events::Rule",
      "EventsToSkyhookRole AWS::IAM::Role",
      "UndeliveredEvents AWS::SQS::Queue",
      "UndeliveredEventsPolicy AWS::SQS::QueuePolicy",
    ]);
  });

  test("lets Skyhook's AWS account put events on that bus, and denies everything else", () => {
    expect(properties("OnlySkyhookMayPut")).toEqual({
      EventBusName: { Ref: "SkyhookEvents" },
      // CloudFormation refuses an id that another stack uses, for example that of another stage of Skyhook.
      StatementId: { "Fn::Join": ["-", { "Fn::Split": [".", { Ref: "BusName" }] }] },
      Statement: {
        Effect: "Allow",
        Principal: { AWS: { "Fn::Sub": `arn:\${AWS::Partition}:iam::\${SkyhookAccountId}:root` } },
        Action: "events:PutEvents",
        Resource: arn("SkyhookEvents"),
        Condition: {
          "ForAllValues:StringEquals": { "events:source": [{ Ref: "SkyhookSource" }] },
          Null: { "events:source": "false" },
        },
      },
    });
  });

  test.each([
    { sources: ["skyhook"], isAllowed: true },
    { sources: ["billing"], isAllowed: false },
    { sources: ["skyhook", "billing"], isAllowed: false },
    { sources: undefined, isAllowed: false },
  ])("events from there with the sources $sources: $isAllowed", ({ sources, isAllowed }) => {
    const schema = z.object({ Statement: z.object({ Condition: z.unknown() }) });
    const { Condition } = schema.parse(properties("OnlySkyhookMayPut")).Statement;
    const context = sources === undefined ? {} : { "events:source": sources };

    expect(conditionHolds(Condition, context, { SkyhookSource: "skyhook" })).toBe(isAllowed);
  });

  test("forwards this AWS account's own events of the named sources to Skyhook's bus", () => {
    expect(properties("EventsToSkyhook")).toEqual({
      Description: "Forwards events of this AWS account to Skyhook's bus",
      EventBusName: { Ref: "EventSourcesBusName" },
      EventPattern: { source: { Ref: "EventSources" }, account: [OWN_ACCOUNT] },
      Targets: [
        {
          Id: "skyhook",
          Arn: { Ref: "SkyhookBusArn" },
          RoleArn: arn("EventsToSkyhookRole"),
          RetryPolicy: {
            MaximumEventAgeInSeconds: deployment.delivery.rules.eventAgeSeconds,
            MaximumRetryAttempts: deployment.delivery.rules.retryAttempts,
          },
          DeadLetterConfig: { Arn: arn("UndeliveredEvents") },
        },
      ],
    });
  });

  test("gives its rule a role that may only put events on Skyhook's bus", () => {
    expect(properties("EventsToSkyhookRole")).toEqual({
      AssumeRolePolicyDocument: {
        Version: "2012-10-17",
        Statement: [
          {
            Effect: "Allow",
            Principal: { Service: "events.amazonaws.com" },
            Action: "sts:AssumeRole",
            Condition: { StringEquals: { "aws:SourceAccount": OWN_ACCOUNT } },
          },
        ],
      },
      Policies: [
        {
          PolicyName: "put-events",
          PolicyDocument: {
            Version: "2012-10-17",
            Statement: [
              { Effect: "Allow", Action: "events:PutEvents", Resource: { Ref: "SkyhookBusArn" } },
            ],
          },
        },
      ],
    });
  });

  test("keeps undelivered events for 14 days", () => {
    expect(properties("UndeliveredEvents")).toMatchObject({
      MessageRetentionPeriod: deployment.deadLetterRetentionSeconds,
      SqsManagedSseEnabled: true,
    });
    expect(properties("UndeliveredEventsPolicy")).toMatchObject({
      Queues: [{ Ref: "UndeliveredEvents" }],
      PolicyDocument: {
        Statement: [
          {
            Effect: "Allow",
            Principal: { Service: "events.amazonaws.com" },
            Action: "sqs:SendMessage",
            Resource: arn("UndeliveredEvents"),
            Condition: { ArnEquals: { "aws:SourceArn": arn("EventsToSkyhook") } },
          },
        ],
      },
    });
  });

  test("requires three parameters, and outputs the bus for Skyhook's accounts file", () => {
    const asked = Object.entries(Parameters).filter(([, parameter]) => !("Default" in parameter));

    expect(asked.map(([name]) => name)).toEqual([
      "SkyhookAccountId",
      "SkyhookBusArn",
      "EventSources",
    ]);
    expect(Outputs.BusArn?.Value).toEqual(arn("SkyhookEvents"));
  });
});
