import { describe, expect, test } from "vitest";
import * as z from "zod";
import { arn, type TemplateReader } from "../template-reader.ts";
import { FUNCTIONS } from "./functions.ts";
import { STATEMENTS, TRUST } from "./statements.ts";

/** What each role may do, and who else may do something. */
export const testPermissions = ({ resource, ofType, all }: TemplateReader): void => {
  describe("permissions", () => {
    const roleSchema = z.strictObject({
      AssumeRolePolicyDocument: z.object({ Statement: z.array(z.unknown()) }),
      Policies: z.tuple([
        z.object({ PolicyDocument: z.object({ Statement: z.array(z.unknown()) }) }),
      ]),
    });

    const rolesOf = () =>
      ofType("AWS::IAM::Role").map(
        ([id, { Properties }]) => [id, roleSchema.parse(Properties)] as const,
      );

    test("are these statements and no others", () => {
      const statements = Object.fromEntries(
        rolesOf().map(([id, role]) => [id, role.Policies[0].PolicyDocument.Statement]),
      );

      expect(statements).toEqual(STATEMENTS);
    });

    test("are taken by the service that each role is made for", () => {
      const trust = Object.fromEntries(
        rolesOf().map(([id, role]) => [id, role.AssumeRolePolicyDocument.Statement]),
      );

      expect(trust).toEqual(TRUST);
    });

    test("come from roles, but for what comes from outside: other AWS accounts, events, dead letters", () => {
      const policies = all().filter(([, { Type }]) => /Polic|Permission/.test(Type));

      // The first is osls's: it denies access to the deployment bucket without TLS. Those of the two
      // queues that functions read only deny too.
      expect(policies.map(([id]) => id)).toEqual([
        "ServerlessDeploymentBucketPolicy",
        "CommandQueuePolicy",
        "WakeQueuePolicy",
        "AwsAccountsMayPut",
        "RulesMayCallIntake",
        "DefaultRulesMayCallIntake",
        "IntakeDeadLetterPolicy",
        "SubscriberDeadLetterPolicy",
        "ThresholdsWrittenPermission",
        "ScheduleDeadLetterPolicy",
      ]);
      expect(resource("ThresholdsWrittenPermission").Properties).toEqual({
        Action: "lambda:InvokeFunction",
        FunctionName: arn("SyncDashthresholdsLambdaFunction"),
        Principal: "events.amazonaws.com",
        SourceArn: arn("ThresholdsWritten"),
      });
      expect(resource("ScheduleDeadLetterPolicy").Properties).toEqual({
        Queues: [{ Ref: "ScheduleDeadLetter" }],
        PolicyDocument: {
          Version: "2012-10-17",
          Statement: [
            {
              Effect: "Allow",
              Principal: { Service: "events.amazonaws.com" },
              Action: "sqs:SendMessage",
              Resource: arn("ScheduleDeadLetter"),
              Condition: { ArnEquals: { "aws:SourceArn": arn("ThresholdsWritten") } },
            },
          ],
        },
      });
    });

    test("belong to one role for each function", () => {
      for (const { id, role } of FUNCTIONS) {
        expect(resource(id).Properties.Role).toEqual(arn(role));
      }
    });
  });
};
