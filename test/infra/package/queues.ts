import { describe, expect, test } from "vitest";
import * as z from "zod";
import { conditionHolds, type RequestContext } from "../policy-condition.ts";
import { arn, type TemplateReader } from "../template-reader.ts";

const OURS = "444455556666";
const OTHER = "111122223333";
const SERVICE = { "aws:PrincipalIsAWSService": "true" };
const NO_SERVICE = { "aws:PrincipalIsAWSService": "false" };

const policySchema = z.object({
  PolicyDocument: z.object({ Statement: z.array(z.looseObject({ Condition: z.unknown() })) }),
});

/** Queues, and who may send to them. */
export const testQueues = ({ resource, ofType }: TemplateReader): void => {
  const statementsOf = (policy: string) =>
    policySchema.parse(resource(policy).Properties).PolicyDocument.Statement;

  describe("queues", () => {
    test("are two with a dead-letter queue each, and one for each that hands events on", () => {
      expect(ofType("AWS::SQS::Queue").map(([id]) => id)).toEqual([
        "CommandQueue",
        "CommandDeadLetter",
        "WakeQueue",
        "WakeDeadLetter",
        "IntakeDeadLetter",
        "SubscriberDeadLetter",
        "ScheduleDeadLetter",
      ]);
    });

    test("hand commands over in order, each group by itself, and hide one for 3 minutes, ten times", () => {
      expect(resource("CommandQueue").Properties).toEqual({
        QueueName: "skyhook-dev-commands.fifo",
        FifoQueue: true,
        // The sender of a command decides what is a repetition, not its content.
        ContentBasedDeduplication: false,
        VisibilityTimeout: 180,
        MessageRetentionPeriod: 345_600,
        RedrivePolicy: { deadLetterTargetArn: arn("CommandDeadLetter"), maxReceiveCount: 10 },
        SqsManagedSseEnabled: true,
      });
    });

    test("forget a wake after an hour, and hide it for 6 minutes, three times", () => {
      expect(resource("WakeQueue").Properties).toEqual({
        QueueName: "skyhook-dev-wake",
        VisibilityTimeout: 360,
        MessageRetentionPeriod: 3_600,
        RedrivePolicy: { deadLetterTargetArn: arn("WakeDeadLetter"), maxReceiveCount: 3 },
        SqsManagedSseEnabled: true,
      });
    });

    test.each([
      ["CommandDeadLetter", "commands-dead-letter.fifo", { FifoQueue: true }],
      ["WakeDeadLetter", "wake-dead-letter", {}],
      ["IntakeDeadLetter", "intake-dead-letter", {}],
      ["SubscriberDeadLetter", "subscriber-dead-letter", {}],
      ["ScheduleDeadLetter", "schedule-dead-letter", {}],
    ])(
      "%s keeps what comes for the 14 days that SQS allows, FIFO behind FIFO",
      (id, thing, more) => {
        expect(resource(id).Properties).toEqual({
          QueueName: `skyhook-dev-${thing}`,
          MessageRetentionPeriod: 1_209_600,
          SqsManagedSseEnabled: true,
          ...more,
        });
      },
    );

    test.each(["CommandQueue", "WakeQueue"])(
      "%s has a policy that only denies sending",
      (queue) => {
        const statements = statementsOf(`${queue}Policy`);

        expect(resource(`${queue}Policy`).Properties.Queues).toEqual([{ Ref: queue }]);
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

    test.each<[who: string, context: RequestContext, isRefused: boolean]>([
      ["a function of ours", { "aws:PrincipalAccount": OURS, ...NO_SERVICE }, false],
      ["a role of another AWS account", { "aws:PrincipalAccount": OTHER, ...NO_SERVICE }, true],
      ["nobody known", {}, true],
      ["a service for a resource of ours", { "aws:SourceAccount": OURS, ...SERVICE }, false],
      ["a service for another AWS account", { "aws:SourceAccount": OTHER, ...SERVICE }, true],
      ["a service that says for nobody", SERVICE, true],
    ])("%s, refused by both policies (%j): %j", (_who, context, isRefused) => {
      for (const queue of ["CommandQueue", "WakeQueue"]) {
        const denials = statementsOf(`${queue}Policy`).filter(({ Condition }) =>
          conditionHolds(Condition, context, { "AWS::AccountId": OURS }),
        );

        expect(denials.length > 0).toBe(isRefused);
      }
    });
  });
};
