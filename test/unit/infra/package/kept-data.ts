import { describe, expect, test } from "vitest";
import * as z from "zod";
import { deployment } from "../../../../lib/platform/deployment.ts";
import { conditionHolds } from "../policy-condition.ts";
import type { TemplateReader } from "../template-reader.ts";

const policySchema = z.object({
  Bucket: z.object({ Ref: z.string() }),
  PolicyDocument: z.object({
    Statement: z.tuple([z.looseObject({ Effect: z.literal("Deny"), Condition: z.unknown() })]),
  }),
});

/** Checks that every resource with stored data is encrypted, including resources that are added later. */
export const testKeptData = ({ all, ofType }: TemplateReader): void => {
  describe("stored data", () => {
    test("is in resources of these types; all others store none", () => {
      const types = new Set(all().map(([, { Type }]) => Type));

      expect([...types].toSorted()).toEqual([
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::Dashboard",
        "AWS::DynamoDB::Table",
        // Always encrypted by EventBridge.
        "AWS::Events::Archive",
        "AWS::Events::EventBus",
        "AWS::Events::EventBusPolicy",
        "AWS::Events::Rule",
        "AWS::IAM::Role",
        "AWS::Lambda::EventInvokeConfig",
        "AWS::Lambda::EventSourceMapping",
        "AWS::Lambda::Function",
        "AWS::Lambda::Permission",
        // Always encrypted by CloudWatch.
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
        "AWS::SQS::Queue",
        "AWS::SQS::QueuePolicy",
        "AWS::Scheduler::Schedule",
        "AWS::Scheduler::ScheduleGroup",
      ]);
    });

    test("is encrypted in every queue", () => {
      for (const [id, { Properties }] of ofType("AWS::SQS::Queue")) {
        expect(Properties.SqsManagedSseEnabled, id).toBe(true);
      }
    });

    test("is encrypted in every table", () => {
      for (const [id, { Properties }] of ofType("AWS::DynamoDB::Table")) {
        expect(Properties.SSESpecification, id).toEqual({ SSEEnabled: true });
      }
    });

    test("is encrypted in every bucket", () => {
      for (const [id, { Properties }] of ofType("AWS::S3::Bucket")) {
        expect(Properties.BucketEncryption, id).toEqual({
          ServerSideEncryptionConfiguration: [
            { ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } },
          ],
        });
      }
    });

    test("is refused to requests without TLS, and to no others, in every bucket", () => {
      const policies = ofType("AWS::S3::BucketPolicy").map(([, { Properties }]) =>
        policySchema.parse(Properties),
      );

      expect(policies.map(({ Bucket }) => Bucket.Ref)).toEqual(
        ofType("AWS::S3::Bucket").map(([id]) => id),
      );
      for (const { PolicyDocument } of policies) {
        const { Condition } = PolicyDocument.Statement[0];
        expect(conditionHolds(Condition, { "aws:SecureTransport": "false" })).toBe(true);
        expect(conditionHolds(Condition, { "aws:SecureTransport": "true" })).toBe(false);
      }
    });

    test("of outgoing events is kept for 90 days: events with Skyhook's source from its AWS account", () => {
      const archives = ofType("AWS::Events::Archive").map(([, { Properties }]) => Properties);

      expect(archives).toEqual([
        {
          ArchiveName: "skyhook-dev-outgoing",
          Description: "Events that Skyhook has published",
          SourceArn: { "Fn::GetAtt": ["EventBus", "Arn"] },
          EventPattern: { source: ["skyhook"], account: [{ Ref: "AWS::AccountId" }] },
          RetentionDays: deployment.archiveRetentionDays,
        },
      ]);
    });
  });
};
