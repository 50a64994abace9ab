import { describe, expect, test } from "vitest";
import * as z from "zod";
import { conditionHolds } from "../policy-condition.ts";
import { arn, OWN_ACCOUNT, type TemplateReader } from "../template-reader.ts";

const OTHER_BUS = "arn:aws:events:eu-central-1:111122223333:event-bus/skyhook-events";

const RULES_ON_OUR_BUS = {
  "Fn::Sub": `arn:\${AWS::Partition}:events:\${AWS::Region}:\${AWS::AccountId}:rule/skyhook-dev-events/skyhook-dev-*`,
};
const REACTIONS_ON_THE_DEFAULT_BUS = {
  "Fn::Sub": `arn:\${AWS::Partition}:events:\${AWS::Region}:\${AWS::AccountId}:rule/skyhook-dev-reaction-*`,
};

const INTAKE_TARGET = {
  Id: "intake",
  Arn: arn("IntakeLambdaFunction"),
  RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
  DeadLetterConfig: { Arn: arn("IntakeDeadLetter") },
};

const policySchema = z.object({ Statement: z.object({ Condition: z.unknown() }) });

const testBusPolicy = ({ resource, ofType }: TemplateReader): void => {
  test("the bus takes events of the listed AWS account, in one statement, and of no other", () => {
    const policies = ofType("AWS::Events::EventBusPolicy");

    expect(policies.map(([id]) => id)).toEqual(["AwsAccountsMayPut"]);
    expect(resource("AwsAccountsMayPut").Properties).toEqual({
      EventBusName: { Ref: "EventBus" },
      StatementId: "aws-accounts",
      Statement: {
        Effect: "Allow",
        Principal: { AWS: [{ "Fn::Sub": `arn:\${AWS::Partition}:iam::111122223333:root` }] },
        Action: "events:PutEvents",
        Resource: arn("EventBus"),
        Condition: {
          "ForAllValues:StringNotEquals": { "events:source": ["skyhook"] },
          Null: { "events:source": "false" },
        },
      },
    });
  });

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
};

const testIntakeRules = ({ resource, ofType }: TemplateReader): void => {
  test("what it lets in is known to those who run it before it lets it in", () => {
    expect(resource("IntakeLambdaFunction").DependsOn).toEqual(
      expect.arrayContaining(["RunDashcommandsLambdaFunction", "PollDashtasksLambdaFunction"]),
    );
  });

  test("a request on our bus comes to intake whole, unless it calls itself ours", () => {
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

  test("a reaction is a rule with its pattern as written, which tells intake its name", () => {
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

  test("only these rules call intake, with two permissions however many there are", () => {
    const permissions = ofType("AWS::Lambda::Permission").filter(
      ([, { Properties }]) =>
        JSON.stringify(Properties.FunctionName) === JSON.stringify(arn("IntakeLambdaFunction")),
    );

    expect(permissions.map(([id, { Properties }]) => [id, Properties.SourceArn])).toEqual([
      ["RulesMayCallIntake", RULES_ON_OUR_BUS],
      ["DefaultRulesMayCallIntake", REACTIONS_ON_THE_DEFAULT_BUS],
    ]);
    for (const [, { Properties }] of permissions) {
      expect(Properties).toMatchObject({
        Action: "lambda:InvokeFunction",
        Principal: "events.amazonaws.com",
      });
    }
  });

  test("the same rules may leave what they could not hand over, and nothing else may", () => {
    expect(resource("IntakeDeadLetterPolicy").Properties).toEqual({
      Queues: [{ Ref: "IntakeDeadLetter" }],
      PolicyDocument: {
        Version: "2012-10-17",
        Statement: [
          {
            Effect: "Allow",
            Principal: { Service: "events.amazonaws.com" },
            Action: "sqs:SendMessage",
            Resource: arn("IntakeDeadLetter"),
            Condition: {
              ArnLike: { "aws:SourceArn": [RULES_ON_OUR_BUS, REACTIONS_ON_THE_DEFAULT_BUS] },
            },
          },
        ],
      },
    });
  });

  test("an event that intake fails at is tried twice more, and kept after six hours at most", () => {
    expect(resource("IntakeLambdaEvConf").Properties).toMatchObject({
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 21_600,
      DestinationConfig: { OnFailure: { Destination: arn("IntakeDeadLetter") } },
    });
  });
};

const testSubscribers = ({ resource }: TemplateReader): void => {
  test("an AWS account with a bus gets the events of its own commands there, as we put them", () => {
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
          RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
          DeadLetterConfig: { Arn: arn("SubscriberDeadLetter") },
        },
      ],
    });
  });

  test("what could not be handed over there is kept, of these rules only", () => {
    expect(resource("SubscriberDeadLetterPolicy").Properties).toMatchObject({
      Queues: [{ Ref: "SubscriberDeadLetter" }],
      PolicyDocument: {
        Statement: [
          {
            Effect: "Allow",
            Principal: { Service: "events.amazonaws.com" },
            Action: "sqs:SendMessage",
            Resource: arn("SubscriberDeadLetter"),
            Condition: {
              ArnLike: {
                "aws:SourceArn": {
                  "Fn::Sub":
                    "arn:\u0024{AWS::Partition}:events:\u0024{AWS::Region}:\u0024{AWS::AccountId}:rule/skyhook-dev-events/skyhook-dev-subscriber-*",
                },
              },
            },
          },
        ],
      },
    });
  });
};

const testAlarms = ({ resource, ofType }: TemplateReader): void => {
  test("each account has two alarms, and there is no other", () => {
    expect(ofType("AWS::CloudWatch::Alarm").map(([id]) => id)).toEqual([
      "KeyRefusedmain0d6e4079",
      "KeyUnreadablemain0d6e4079",
    ]);
  });

  test.each([
    {
      id: "KeyRefusedmain0d6e4079",
      name: "skyhook-dev-key-refused-main",
      metric: "AccountKeyRefused",
      what: "The provider refuses the key of the account main (/skyhook/dev/api-key)",
    },
    {
      id: "KeyUnreadablemain0d6e4079",
      name: "skyhook-dev-key-unreadable-main",
      metric: "AccountKeyUnreadable",
      what: "The key of the account main cannot be read from /skyhook/dev/api-key, or no header can carry it",
    },
  ])("$name comes when this lasts, and names what to do", ({ id, name, metric, what }) => {
    expect(resource(id).Properties).toEqual({
      AlarmName: name,
      AlarmDescription: `${what}: commands wait until their deadlines, standing jobs stand still. README: "The API key is refused"`,
      Namespace: "skyhook",
      MetricName: metric,
      Dimensions: [
        { Name: "service", Value: "skyhook-dev" },
        { Name: "account", Value: "main" },
      ],
      Statistic: "Sum",
      Period: 300,
      EvaluationPeriods: 3,
      DatapointsToAlarm: 2,
      Threshold: 1,
      ComparisonOperator: "GreaterThanOrEqualToThreshold",
      TreatMissingData: "notBreaching",
    });
  });
};

/** What leads in, from other AWS accounts too; what leads out to them; and what tells people. */
export const testAcrossAccounts = (template: TemplateReader): void => {
  describe("the bus's policy", () => testBusPolicy(template));
  describe("what leads to intake", () => testIntakeRules(template));
  describe("subscribers", () => testSubscribers(template));
  describe("alarms", () => testAlarms(template));
};
