import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { TemplateReader } from "../template-reader.ts";

const alarmSchema = z.looseObject({
  AlarmDescription: z.string(),
  Namespace: z.string(),
  MetricName: z.string(),
  Dimensions: z.array(z.object({ Name: z.string(), Value: z.unknown() })),
});

const SERVICE = { Name: "service", Value: "skyhook-dev" };

/** Headings below "Runbooks" in README.md. */
const runbooks = (): readonly string[] => {
  const [, section = ""] = readFileSync("README.md", "utf8").split(/^## Runbooks$/m);
  const [body = ""] = section.split(/^## /m);
  return [...body.matchAll(/^### (.+)$/gm)].flatMap(([, heading]) => heading ?? []);
};

/** What tells people. */
export const testAlarms = ({ resource, ofType }: TemplateReader): void => {
  const alarms = () =>
    ofType("AWS::CloudWatch::Alarm").map(([, { Properties }]) => alarmSchema.parse(Properties));
  const measuring = (namespace: string, metric: string) =>
    alarms()
      .filter(({ Namespace, MetricName }) => Namespace === namespace && MetricName === metric)
      .map(({ Dimensions }) => Dimensions);

  describe("alarms", () => {
    test("each name a runbook of README.md, and each runbook is named", () => {
      const named = alarms().map(
        ({ AlarmDescription }) => /[^.]\. README: "([^"]+)"$/.exec(AlarmDescription)?.[1],
      );

      expect([...new Set(named)].toSorted()).toEqual(runbooks().toSorted());
    });

    test("watch every dead-letter queue, for a single message", () => {
      const queues = ofType("AWS::SQS::Queue").filter(([id]) => id.endsWith("DeadLetter"));

      expect(queues).toHaveLength(5);
      expect(measuring("AWS/SQS", "ApproximateNumberOfMessagesVisible")).toEqual(
        queues.map(([id]) => [{ Name: "QueueName", Value: { "Fn::GetAtt": [id, "QueueName"] } }]),
      );
      expect(resource("IntakeDeadLetterNotEmpty").Properties).toMatchObject({
        AlarmName: "skyhook-dev-intake-dead-letter",
        AlarmDescription:
          'Events that could not be handed to intake, or that it failed at are kept, for 14 days. README: "Redrive dead letters"',
        Statistic: "Maximum",
        Period: 300,
        EvaluationPeriods: 1,
        Threshold: 1,
        ComparisonOperator: "GreaterThanOrEqualToThreshold",
      });
    });

    test("come when a command is older than half of the receives that it has", () => {
      expect(resource("CommandsWaiting").Properties).toMatchObject({
        Namespace: "AWS/SQS",
        MetricName: "ApproximateAgeOfOldestMessage",
        Dimensions: [{ Name: "QueueName", Value: { "Fn::GetAtt": ["CommandQueue", "QueueName"] } }],
        Statistic: "Maximum",
        Threshold: 900,
        ComparisonOperator: "GreaterThanThreshold",
      });
    });

    test.each(["Errors", "Throttles"])("watch every function's %s", (metric) => {
      const names = ofType("AWS::Lambda::Function").map(
        ([, { Properties }]) => Properties.FunctionName,
      );

      expect(measuring("AWS/Lambda", metric)).toEqual(
        names.map((name) => [{ Name: "FunctionName", Value: name }]),
      );
    });

    test("come at the third failed run in 15 minutes, and at throttles that last as long", () => {
      expect(resource("RunCommandsFails").Properties).toMatchObject({
        Statistic: "Sum",
        Period: 900,
        EvaluationPeriods: 1,
        Threshold: 3,
      });
      expect(resource("RunCommandsThrottled").Properties).toMatchObject({
        Statistic: "Sum",
        Period: 300,
        EvaluationPeriods: 3,
        Threshold: 1,
      });
    });

    test.each(["TaskPastDeadline", "UnknownOutcome", "ThresholdsRejected"])(
      "come at the first %s",
      (metric) => {
        expect(resource(metric).Properties).toMatchObject({
          Namespace: "skyhook",
          MetricName: metric,
          Dimensions: [SERVICE],
          Statistic: "Sum",
          Period: 300,
          EvaluationPeriods: 1,
          Threshold: 1,
          ComparisonOperator: "GreaterThanOrEqualToThreshold",
          TreatMissingData: "notBreaching",
        });
      },
    );

    test("come when the poller has come to no end for five minutes, or says nothing", () => {
      expect(resource("PollerSilent").Properties).toMatchObject({
        Namespace: "skyhook",
        MetricName: "PollerRan",
        Dimensions: [SERVICE],
        Statistic: "Sum",
        Period: 300,
        EvaluationPeriods: 1,
        Threshold: 1,
        ComparisonOperator: "LessThanThreshold",
        TreatMissingData: "breaching",
      });
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
    ])("$name comes when this lasts, and says of which account", ({ id, name, metric, what }) => {
      expect(resource(id).Properties).toEqual({
        AlarmName: name,
        AlarmDescription: `${what}: commands wait until their deadlines, standing jobs stand still. README: "The API key is refused"`,
        Namespace: "skyhook",
        MetricName: metric,
        Dimensions: [SERVICE, { Name: "account", Value: "main" }],
        Statistic: "Sum",
        Period: 300,
        EvaluationPeriods: 3,
        DatapointsToAlarm: 2,
        Threshold: 1,
        ComparisonOperator: "GreaterThanOrEqualToThreshold",
        TreatMissingData: "notBreaching",
      });
    });

    test("tell nobody where the stage names no topic", () => {
      for (const alarm of alarms()) {
        expect(alarm).not.toHaveProperty("AlarmActions");
        expect(alarm).not.toHaveProperty("OKActions");
      }
    });
  });
};
