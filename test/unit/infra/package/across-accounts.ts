import { describe, expect, test } from "vitest";
import * as z from "zod";
import { deployment } from "../../../../lib/platform/deployment.ts";
import { conditionHolds } from "../policy-condition.ts";
import { arn, OWN_ACCOUNT, type TemplateReader } from "../template-reader.ts";
import { FUNCTIONS } from "./functions.ts";

const OTHER_BUS = "arn:aws:events:eu-central-1:111122223333:event-bus/skyhook-events";

const INTAKE_TARGET = {
  // The id of the target that it replaces. With another id both targets would exist for a while.
  Id: "intake",
  Arn: arn("RequestQueue"),
  RetryPolicy: {
    MaximumEventAgeInSeconds: deployment.delivery.rules.eventAgeSeconds,
    MaximumRetryAttempts: deployment.delivery.rules.retryAttempts,
  },
  DeadLetterConfig: { Arn: arn("IntakeDeadLetter") },
};

const policySchema = z.object({ Statement: z.object({ Condition: z.unknown() }) });

const testBusPolicy = ({ resource }: TemplateReader): void => {
  test.each([
    { sources: ["billing"], isAllowed: true },
    { sources: ["billing", "crm"], isAllowed: true },
    { sources: ["skyhook"], isAllowed: false },
    { sources: ["billing", "skyhook"], isAllowed: false },
    { sources: undefined, isAllowed: false },
  ])("events of another AWS account with the sources $sources: $isAllowed", (given) => {
    const { Statement } = policySchema.parse(resource("AwsAccountsMayPut").Properties);
    const context = given.sources === undefined ? {} : { "events:source": given.sources };

    expect(conditionHolds(Statement.Condition, context)).toBe(given.isAllowed);
  });

  const role = (name: string) => `arn:aws:iam::444455556666:role/${name}`;
  const ROLE_ARNS = Object.fromEntries(
    FUNCTIONS.map((each) => [`${each.role}.Arn`, role(each.role)]),
  );
  test.each<[who: string, principal: string | undefined, sources: string[], isDenied: boolean]>([
    ...FUNCTIONS.map((each): [string, string, string[], boolean] => [
      `the role of ${each.name}`,
      role(each.role),
      ["skyhook"],
      false,
    ]),
    ["a developer of Skyhook's AWS account", role("developer"), ["skyhook"], true],
    ["a developer among other events", role("developer"), ["billing", "skyhook"], true],
    ["a developer with another source", role("developer"), ["billing"], false],
    ["a role of another AWS account", "arn:aws:iam::111122223333:role/a", ["skyhook"], true],
    ["EventBridge, which replays the archive as no principal", undefined, ["skyhook"], false],
  ])("Skyhook's source from %s (%j, %j) is denied: %j", (_who, principal, sources, isDenied) => {
    const { Statement } = policySchema.parse(resource("OnlyOurFunctionsMayPut").Properties);
    const context = {
      "events:source": sources,
      ...(principal !== undefined && { "aws:PrincipalArn": principal }),
    };

    expect(conditionHolds(Statement.Condition, context, ROLE_ARNS)).toBe(isDenied);
  });
};

const testIntakeRules = ({ resource, ofType }: TemplateReader): void => {
  test("intake is updated after the functions that run its commands", () => {
    expect(resource("IntakeLambdaFunction").DependsOn).toEqual(
      expect.arrayContaining(["RunDashcommandsLambdaFunction", "PollDashtasksLambdaFunction"]),
    );
  });

  test("rules are created after the queue's policy, its reader and its dead-letter policy", () => {
    for (const [id, rule] of ofType("AWS::Events::Rule")) {
      if (!JSON.stringify(rule.Properties.Targets).includes("RequestQueue")) continue;

      expect(rule.DependsOn, id).toEqual([
        "RequestQueuePolicy",
        "IntakeDeadLetterPolicy",
        "IntakeEventSourceMappingSQSRequestQueue",
      ]);
    }
  });

  // SQS needs up to a minute to apply a new policy. Events that a rule sends before become dead letters.
  test("the event source mapping is created between the queue's policy and the rules", () => {
    expect(resource("IntakeEventSourceMappingSQSRequestQueue").DependsOn).toContain(
      "RequestQueuePolicy",
    );
  });

  test("the queue receives every whole request of the bus, except those with Skyhook's source", () => {
    expect(resource("CommandsRequested").Properties).toEqual({
      Name: "skyhook-dev-commands-requested",
      EventBusName: { Ref: "EventBus" },
      EventPattern: {
        "detail-type": ["CommandRequested", "TaskFollowRequested"],
        source: [{ "anything-but": ["skyhook"] }],
      },
      Targets: [INTAKE_TARGET],
    });
  });

  test("a reaction is a rule with the pattern of the file, which passes its name to intake", () => {
    expect(resource("Reactionresumepaidinstance124c1c3a").Properties).toEqual({
      Name: "skyhook-dev-reaction-resume-paid-instance",
      Description: "The reaction resume-paid-instance",
      EventBusName: { Ref: "EventBus" },
      EventPattern:
        '{"account":["111122223333"],"source":["billing"],"detail-type":["InvoicePaid"]}',
      Targets: [
        {
          ...INTAKE_TARGET,
          InputTransformer: {
            InputTemplate: '{"reaction":"resume-paid-instance","event":<aws.events.event.json>}',
          },
        },
      ],
    });
  });

  test("a reaction to events of AWS services is a rule on the default bus", () => {
    const { Properties } = resource("Reactionpausepolicyonreport98031658");

    expect(Properties).not.toHaveProperty("EventBusName");
    expect(Properties.EventPattern).toBe(
      '{"source":["aws.s3"],"detail-type":["Object Created"],"detail":{"bucket":{"name":["my-reports"]},"object":{"key":[{"prefix":"overspent/"}]}}}',
    );
  });

  test("no rule invokes intake directly, which would exhaust the retries in three minutes", () => {
    for (const [id, { Properties }] of ofType("AWS::Events::Rule")) {
      expect(JSON.stringify(Properties.Targets), id).not.toContain("IntakeLambdaFunction");
    }
  });
};

const testSubscribers = ({ resource }: TemplateReader): void => {
  test("an AWS account with a bus receives the unchanged events of its own commands there", () => {
    expect(resource("Subscriber111122223333").Properties).toEqual({
      Name: "skyhook-dev-subscriber-111122223333",
      Description: "Events of the commands of 111122223333",
      EventBusName: { Ref: "EventBus" },
      EventPattern: {
        source: ["skyhook"],
        account: [OWN_ACCOUNT],
        "detail-type": [{ prefix: "Command" }, { prefix: "Task" }],
        detail: { metadata: { sender: ["111122223333"] } },
      },
      Targets: [
        {
          Id: "bus",
          Arn: OTHER_BUS,
          RoleArn: arn("Subscriber111122223333Role"),
          RetryPolicy: {
            MaximumEventAgeInSeconds: deployment.delivery.rules.eventAgeSeconds,
            MaximumRetryAttempts: deployment.delivery.rules.retryAttempts,
          },
          DeadLetterConfig: { Arn: arn("SubscriberDeadLetter") },
        },
      ],
    });
  });
};

/**
 * Rules of an earlier stage invoke intake directly. An update changes them last. Their invocations wait in Lambda
 * for up to six hours and need the same permissions and dead-letter queue as before.
 */
const testRollOver = ({ resource }: TemplateReader): void => {
  test("an event that still waits in Lambda is retried twice, and stored if it fails", () => {
    expect(resource("IntakeLambdaEvConf").Properties).toMatchObject({
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 21_600,
      DestinationConfig: { OnFailure: { Destination: arn("IntakeDeadLetter") } },
    });
  });

  test("a rule may still invoke intake until EventBridge uses its new target", () => {
    expect(resource("RulesMayCallIntake").Type).toBe("AWS::Lambda::Permission");
    expect(resource("DefaultRulesMayCallIntake").Type).toBe("AWS::Lambda::Permission");
  });

  test("the dead-letter queue of intake stays, with its messages", () => {
    expect(resource("IntakeDeadLetter").Properties.QueueName).toBe(
      "skyhook-dev-intake-dead-letter",
    );
  });
};

/** Ways of events into the stage and out of it, also from and to other AWS accounts. */
export const testAcrossAccounts = (template: TemplateReader): void => {
  describe("the bus's policy", () => testBusPolicy(template));
  describe("rules that send to intake", () => testIntakeRules(template));
  describe("an update of a stage with rules that invoke intake", () => testRollOver(template));
  describe("subscribers", () => testSubscribers(template));
};
