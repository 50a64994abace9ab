import { describe, expect, test } from "vitest";
import * as z from "zod";
import { deployment } from "../../../../lib/platform/deployment.ts";
import { conditionHolds, type RequestContext } from "../policy-condition.ts";
import { arn, type TemplateReader } from "../template-reader.ts";

const OURS = "444455556666";
const OTHER = "111122223333";
const RULES = "arn:aws:events:eu-central-1:444455556666:rule";
const SERVICE = { "aws:PrincipalIsAWSService": "true" };
const NO_SERVICE = { "aws:PrincipalIsAWSService": "false" };

/** Values of the template's references and pseudo parameters. */
const REFERENCES = {
  "AWS::AccountId": OURS,
  "AWS::Partition": "aws",
  "AWS::Region": "eu-central-1",
};

const policySchema = z.object({
  PolicyDocument: z.object({ Statement: z.array(z.looseObject({ Condition: z.unknown() })) }),
});

const limitsOf = (queue: keyof typeof deployment.queues, deadLetterQueue: string) => {
  const { visibilitySeconds, retentionSeconds, maxReceiveCount } = deployment.queues[queue];
  return {
    MaximumMessageSize: deployment.maxMessageBytes,
    VisibilityTimeout: visibilitySeconds,
    MessageRetentionPeriod: retentionSeconds,
    RedrivePolicy: { deadLetterTargetArn: arn(deadLetterQueue), maxReceiveCount },
  };
};

/** The queues and their policies. */
export const testQueues = ({ resource, ofType }: TemplateReader): void => {
  const statementsOf = (policy: string) =>
    policySchema.parse(resource(policy).Properties).PolicyDocument.Statement;

  describe("queues", () => {
    test("are three with a dead-letter queue each, and three more dead-letter queues for events and schedules", () => {
      expect(ofType("AWS::SQS::Queue").map(([id]) => id)).toEqual([
        "CommandQueue",
        "CommandDeadLetter",
        "WakeQueue",
        "WakeDeadLetter",
        "RequestQueue",
        "RequestDeadLetter",
        "IntakeDeadLetter",
        "SubscriberDeadLetter",
        "ScheduleDeadLetter",
      ]);
    });

    test("deliver commands in order within each group", () => {
      expect(resource("CommandQueue").Properties).toEqual({
        QueueName: "skyhook-dev-commands.fifo",
        FifoQueue: true,
        // The deduplication id of the sender identifies a repetition, not the content.
        ContentBasedDeduplication: false,
        DeduplicationScope: "messageGroup",
        FifoThroughputLimit: "perMessageGroupId",
        ...limitsOf("commands", "CommandDeadLetter"),
        SqsManagedSseEnabled: true,
      });
    });

    test("deliver wake signals in any order", () => {
      expect(resource("WakeQueue").Properties).toEqual({
        QueueName: "skyhook-dev-wake",
        ...limitsOf("wake", "WakeDeadLetter"),
        SqsManagedSseEnabled: true,
      });
    });

    test("deliver events to intake in any order", () => {
      expect(resource("RequestQueue").Properties).toEqual({
        QueueName: "skyhook-dev-requests",
        ...limitsOf("requests", "RequestDeadLetter"),
        // EventBridge cannot write to a queue under the AWS managed KMS key.
        SqsManagedSseEnabled: true,
      });
    });

    test("outlast an outage of half an hour of the services that intake needs", () => {
      const { VisibilityTimeout, RedrivePolicy } = z
        .object({
          VisibilityTimeout: z.number(),
          RedrivePolicy: z.object({ maxReceiveCount: z.number() }),
        })
        .parse(resource("RequestQueue").Properties);

      expect(VisibilityTimeout * RedrivePolicy.maxReceiveCount).toBe(30 * 60);
    });

    test("use no KMS key: EventBridge could not write to such a queue", () => {
      for (const [id, { Properties }] of ofType("AWS::SQS::Queue")) {
        expect(Properties, id).not.toHaveProperty("KmsMasterKeyId");
        expect(Properties.SqsManagedSseEnabled, id).toBe(true);
      }
    });

    test.each([
      ["CommandDeadLetter", "commands-dead-letter.fifo", { FifoQueue: true }],
      ["WakeDeadLetter", "wake-dead-letter", {}],
      ["RequestDeadLetter", "requests-dead-letter", {}],
      ["IntakeDeadLetter", "intake-dead-letter", {}],
      ["SubscriberDeadLetter", "subscriber-dead-letter", {}],
      ["ScheduleDeadLetter", "schedule-dead-letter", {}],
    ])(
      "%s keeps messages for the 14 days that SQS allows, and is FIFO for a FIFO queue",
      (id, thing, more) => {
        expect(resource(id).Properties).toEqual({
          QueueName: `skyhook-dev-${thing}`,
          MaximumMessageSize: 1_048_576,
          MessageRetentionPeriod: 14 * 24 * 3_600,
          SqsManagedSseEnabled: true,
          ...more,
        });
      },
    );

    test("refuse every request over plain HTTP", () => {
      const queues = ofType("AWS::SQS::Queue").map(([id]) => id);
      const policies = ofType("AWS::SQS::QueuePolicy").map(([id]) => id);

      expect(policies.toSorted()).toEqual(queues.map((id) => `${id}Policy`).toSorted());
      for (const queue of queues) {
        const holding = (isSecure: string) =>
          statementsOf(`${queue}Policy`).filter(
            ({ Effect, Action, Condition }) =>
              Effect === "Deny" &&
              Action === "sqs:*" &&
              conditionHolds(Condition, { "aws:SecureTransport": isSecure }),
          );

        expect(holding("false"), queue).toMatchObject([{ Principal: "*", Resource: arn(queue) }]);
        expect(holding("true"), queue).toEqual([]);
      }
    });

    test.each(["CommandQueue", "WakeQueue"])(
      "%s has a policy that only denies: sending, and plain HTTP",
      (queue) => {
        const [plainHttp, ...statements] = statementsOf(`${queue}Policy`);

        expect(resource(`${queue}Policy`).Properties.Queues).toEqual([{ Ref: queue }]);
        expect(plainHttp).toMatchObject({ Sid: "NoPlainHttp", Effect: "Deny" });
        expect(statements).toHaveLength(2);
        for (const statement of statements) {
          expect(statement).toMatchObject({
            Effect: "Deny",
            Principal: "*",
            Action: "sqs:SendMessage",
            Resource: arn(queue),
          });
        }
      },
    );

    test.each<[who: string, context: RequestContext, mayRulesSend: boolean, isDenied: boolean]>([
      [
        "a rule of the stage's bus",
        {
          "aws:SourceArn": `${RULES}/skyhook-dev-events/skyhook-dev-commands-requested`,
          ...SERVICE,
        },
        true,
        false,
      ],
      [
        "a reaction on the default bus",
        { "aws:SourceArn": `${RULES}/skyhook-dev-reaction-paid`, ...SERVICE },
        true,
        false,
      ],
      [
        "a rule on the default bus that is no reaction",
        { "aws:SourceArn": `${RULES}/skyhook-dev-thresholds-written`, ...SERVICE },
        false,
        true,
      ],
      [
        "a rule of another stage",
        { "aws:SourceArn": `${RULES}/skyhook-prod-events/skyhook-prod-reaction-paid`, ...SERVICE },
        false,
        true,
      ],
      [
        "a rule of another AWS account",
        {
          "aws:SourceArn": `${RULES.replace(OURS, OTHER)}/skyhook-dev-events/skyhook-dev-reaction-paid`,
          ...SERVICE,
        },
        false,
        true,
      ],
      ["a service that names no source", SERVICE, false, true],
      [
        "a user or a role of Skyhook's AWS account",
        { "aws:PrincipalAccount": OURS, ...NO_SERVICE },
        false,
        false,
      ],
      [
        "a role of another AWS account",
        { "aws:PrincipalAccount": OTHER, ...NO_SERVICE },
        false,
        true,
      ],
    ])("RequestQueue and %s (%j): allowed by its policy %j, denied %j", (_who, ...expected) => {
      const [context, mayRulesSend, isDenied] = expected;
      const holding = statementsOf("RequestQueuePolicy").filter(({ Condition }) =>
        conditionHolds(Condition, context, REFERENCES),
      );

      expect(resource("RequestQueuePolicy").Properties.Queues).toEqual([{ Ref: "RequestQueue" }]);
      expect(holding.some(({ Effect }) => Effect === "Allow")).toBe(mayRulesSend);
      expect(holding.some(({ Effect }) => Effect === "Deny")).toBe(isDenied);
    });

    test("RequestQueue's policy does not grow with the number of rules", () => {
      const statements = statementsOf("RequestQueuePolicy");

      expect(statements.map(({ Effect, Principal }) => [Effect, Principal])).toEqual([
        ["Deny", "*"],
        ["Allow", { Service: "events.amazonaws.com" }],
        ["Deny", "*"],
        ["Deny", "*"],
      ]);
      expect(JSON.stringify(statements)).not.toMatch(/resume-paid-instance|pause-policy/);
    });

    test.each<[who: string, context: RequestContext, isRefused: boolean]>([
      [
        "a function of Skyhook's AWS account",
        { "aws:PrincipalAccount": OURS, ...NO_SERVICE },
        false,
      ],
      ["a role of another AWS account", { "aws:PrincipalAccount": OTHER, ...NO_SERVICE }, true],
      ["an unknown principal", {}, true],
      [
        "a service for a resource of Skyhook's AWS account",
        { "aws:SourceAccount": OURS, ...SERVICE },
        false,
      ],
      ["a service for another AWS account", { "aws:SourceAccount": OTHER, ...SERVICE }, true],
      ["a service that names no AWS account", SERVICE, true],
    ])("%s, refused by both policies (%j): %j", (_who, context, isRefused) => {
      for (const queue of ["CommandQueue", "WakeQueue"]) {
        const denials = statementsOf(`${queue}Policy`).filter(({ Condition }) =>
          conditionHolds(Condition, context, REFERENCES),
        );

        expect(denials.length > 0).toBe(isRefused);
      }
    });
  });
};
