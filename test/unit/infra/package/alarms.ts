import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { TemplateReader } from "../template-reader.ts";

const alarmSchema = z.looseObject({
  AlarmName: z.string(),
  AlarmDescription: z.string(),
  // Alarms on a sum of metrics have them elsewhere.
  Namespace: z.string().optional(),
  MetricName: z.string().optional(),
  Dimensions: z.array(z.object({ Name: z.string(), Value: z.unknown() })).optional(),
});

const SERVICE = { Name: "service", Value: "skyhook-dev" };

interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
}

const invokeSchema = z.object({
  FunctionName: z.object({ Ref: z.string() }),
  DestinationConfig: z.object({ OnFailure: z.unknown().optional() }).optional(),
});

/** Names of the functions whose failed calls Lambda keeps elsewhere. */
export const functionsWithDestination = ({
  resource,
  ofType,
}: Pick<TemplateReader, "resource" | "ofType">): readonly unknown[] =>
  ofType("AWS::Lambda::EventInvokeConfig")
    .map(([, { Properties }]) => invokeSchema.parse(Properties))
    .filter(({ DestinationConfig }) => DestinationConfig?.OnFailure !== undefined)
    .map(({ FunctionName }) => resource(FunctionName.Ref).Properties.FunctionName);

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
  const measuring = ({ Namespace, MetricName }: Metric) =>
    alarms().filter((each) => each.Namespace === Namespace && each.MetricName === MetricName);
  const dimensionsOf = (metric: Metric) => measuring(metric).map(({ Dimensions }) => Dimensions);
  /** Each different one once: when the alarms on a metric come. */
  const conditionsOf = (metric: Metric) => {
    const conditions = measuring(metric).map(
      ({ AlarmName: _name, AlarmDescription: _text, Dimensions: _of, ...condition }) =>
        JSON.stringify(condition),
    );
    return [...new Set(conditions)].map((condition): unknown => JSON.parse(condition));
  };

  describe("alarms", () => {
    test("each name a runbook of README.md, and each runbook is named", () => {
      const named = alarms().map(
        ({ AlarmDescription }) => /[^.]\. README: "([^"]+)"$/.exec(AlarmDescription)?.[1],
      );

      expect([...new Set(named)].toSorted()).toEqual(runbooks().toSorted());
    });

    test("watch every dead-letter queue, for a single message", () => {
      const queues = ofType("AWS::SQS::Queue").filter(([id]) => id.endsWith("DeadLetter"));
      const metric = { Namespace: "AWS/SQS", MetricName: "ApproximateNumberOfMessagesVisible" };

      expect(queues).toHaveLength(6);
      expect(dimensionsOf(metric)).toEqual(
        queues.map(([id]) => [{ Name: "QueueName", Value: { "Fn::GetAtt": [id, "QueueName"] } }]),
      );
      expect(conditionsOf(metric)).toEqual([
        {
          ...metric,
          Statistic: "Maximum",
          Period: 300,
          EvaluationPeriods: 1,
          Threshold: 1,
          ComparisonOperator: "GreaterThanOrEqualToThreshold",
          TreatMissingData: "notBreaching",
        },
      ]);
      expect(resource("RequestDeadLetterNotEmpty").Properties).toMatchObject({
        AlarmName: "skyhook-dev-requests-dead-letter",
        AlarmDescription:
          'Events that intake failed at ten times are kept, for 14 days. README: "Redrive dead letters"',
      });
      expect(resource("IntakeDeadLetterNotEmpty").Properties).toMatchObject({
        AlarmName: "skyhook-dev-intake-dead-letter",
        AlarmDescription:
          'Events that a rule could not put into the queue of intake are kept, for 14 days. README: "Redrive dead letters"',
      });
    });

    test("watch all that cannot become a dead letter: rules, functions with a destination, schedules", () => {
      const stat = (Namespace: string, MetricName: string, ...Dimensions: object[]) => ({
        MetricStat: { Metric: { Namespace, MetricName, Dimensions }, Period: 300, Stat: "Sum" },
        ReturnData: false,
      });
      const named = (Name: string, Value: unknown) => ({ Name, Value });
      const rules = ofType("AWS::Events::Rule").map(([, { Properties }]) =>
        stat(
          "AWS/Events",
          "InvocationsFailedToBeSentToDlq",
          ...(Properties.EventBusName ? [named("EventBusName", "skyhook-dev-events")] : []),
          named("RuleName", Properties.Name),
        ),
      );
      const functions = functionsWithDestination({ resource, ofType }).map((name) =>
        stat("AWS/Lambda", "DestinationDeliveryFailures", named("FunctionName", name)),
      );
      const schedules = stat(
        "AWS/Scheduler",
        "InvocationsFailedToBeSentToDeadLetterCount",
        named("ScheduleGroup", "skyhook-dev"),
      );
      const { Metrics, ...properties } = resource("DeadLettersLost1").Properties;

      expect(Metrics).toEqual([
        { Id: "sum", Expression: "SUM(METRICS())", Label: "all", ReturnData: true },
        ...[...rules, ...functions, schedules].map((each, index) => ({
          Id: `m${index + 1}`,
          ...each,
        })),
      ]);
      expect(functions.length).toBeGreaterThan(1);
      expect(properties).toEqual({
        AlarmName: "skyhook-dev-dead-letters-lost-1",
        AlarmDescription:
          'An event or a call that failed could not be kept as a dead letter either: it is gone. README: "Dead letters are lost"',
        EvaluationPeriods: 1,
        Threshold: 1,
        ComparisonOperator: "GreaterThanOrEqualToThreshold",
        TreatMissingData: "notBreaching",
      });
    });

    test("come when DynamoDB refuses writes to the ledger or its index for 15 minutes", () => {
      expect(resource("LedgerThrottled").Properties).toMatchObject({
        AlarmName: "skyhook-dev-ledger-throttled",
        EvaluationPeriods: 3,
        Threshold: 1,
        Metrics: [
          { Expression: "SUM(METRICS())" },
          ...[[], [{ Name: "GlobalSecondaryIndexName", Value: "due" }]].map((index) => ({
            MetricStat: {
              Metric: {
                Namespace: "AWS/DynamoDB",
                MetricName: "WriteThrottleEvents",
                Dimensions: [{ Name: "TableName", Value: "skyhook-dev-ledger" }, ...index],
              },
            },
          })),
        ],
      });
    });

    test.each([
      [
        "CommandsWaiting",
        "commands-waiting",
        "CommandQueue",
        'A command has been in the queue for more than 5 minutes: it is not being run. README: "Commands are waiting"',
      ],
      [
        "RequestsWaiting",
        "requests-waiting",
        "RequestQueue",
        'An event has been in the queue of intake for more than 5 minutes, and SQS drops it after 4 days. README: "Requests are waiting"',
      ],
    ])(
      "%s comes at a message older than 5 minutes, before SQS leaves it out",
      (id, ...expected) => {
        const [name, queue, AlarmDescription] = expected;

        expect(resource(id).Properties).toEqual({
          AlarmName: `skyhook-dev-${name}`,
          AlarmDescription,
          Namespace: "AWS/SQS",
          MetricName: "ApproximateAgeOfOldestMessage",
          Dimensions: [{ Name: "QueueName", Value: { "Fn::GetAtt": [queue, "QueueName"] } }],
          Statistic: "Maximum",
          Period: 300,
          EvaluationPeriods: 1,
          Threshold: 300,
          ComparisonOperator: "GreaterThanThreshold",
          TreatMissingData: "notBreaching",
        });
      },
    );

    test.each([
      ["Errors", "the third failed run in 15 minutes", 900, 1, 3],
      ["Throttles", "one in each of three times 5 minutes", 300, 3, 1],
    ])("watch every function's %s, and come at %s", (MetricName, _when, ...numbers) => {
      const [Period, EvaluationPeriods, Threshold] = numbers;
      const metric = { Namespace: "AWS/Lambda", MetricName };
      const names = ofType("AWS::Lambda::Function").map(
        ([, { Properties }]) => Properties.FunctionName,
      );

      expect(dimensionsOf(metric)).toEqual(
        names.map((name) => [{ Name: "FunctionName", Value: name }]),
      );
      expect(conditionsOf(metric)).toEqual([
        {
          ...metric,
          Statistic: "Sum",
          Period,
          EvaluationPeriods,
          Threshold,
          ComparisonOperator: "GreaterThanOrEqualToThreshold",
          TreatMissingData: "notBreaching",
        },
      ]);
    });

    test.each([
      ["TaskPastDeadline", "the first", { Period: 300, EvaluationPeriods: 1 }],
      ["UnknownOutcome", "the first", { Period: 300, EvaluationPeriods: 1 }],
      [
        "ThresholdsRejected",
        "the first, and stay from one hourly look to the next",
        { Period: 3_600, EvaluationPeriods: 2, DatapointsToAlarm: 1 },
      ],
      [
        "WatchlistRejected",
        "the first, and stay from one hourly run to the next",
        { Period: 3_600, EvaluationPeriods: 2, DatapointsToAlarm: 1 },
      ],
      ["DueEntryLeft", "one in each 5 of 15 minutes", { Period: 300, EvaluationPeriods: 3 }],
    ])("of %s come at %s", (MetricName, _when, times) => {
      expect(conditionsOf({ Namespace: "skyhook", MetricName })).toEqual([
        {
          Namespace: "skyhook",
          MetricName,
          Statistic: "Sum",
          ...times,
          Threshold: 1,
          ComparisonOperator: "GreaterThanOrEqualToThreshold",
          TreatMissingData: "notBreaching",
        },
      ]);
    });

    test("come when what is due stays so for more than 5 minutes, and not at a single late run", () => {
      const metric = { Namespace: "skyhook", MetricName: "LedgerLag" };

      expect(conditionsOf(metric)).toEqual([
        {
          ...metric,
          Statistic: "Maximum",
          Period: 300,
          EvaluationPeriods: 3,
          DatapointsToAlarm: 2,
          Threshold: 300,
          ComparisonOperator: "GreaterThanThreshold",
          TreatMissingData: "notBreaching",
        },
      ]);
    });

    test("come when the poller comes to no end for five minutes, unless everything is stopped", () => {
      const metric = { Namespace: "skyhook", MetricName: "PollerRan" };

      expect(conditionsOf(metric)).toEqual([
        {
          ...metric,
          Statistic: "Sum",
          Period: 300,
          EvaluationPeriods: 1,
          Threshold: 1,
          ComparisonOperator: "LessThanThreshold",
          TreatMissingData: { "Fn::If": ["IsRunning", "breaching", "notBreaching"] },
        },
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
    ])("$name comes when this lasts, and says of which account", ({ id, name, metric, what }) => {
      expect(resource(id).Properties).toEqual({
        AlarmName: name,
        AlarmDescription: `${what}: commands wait until their deadlines, scheduled jobs stop. README: "The API key is refused"`,
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

    test("notify no topic where the stage names none", () => {
      for (const alarm of alarms()) {
        expect(alarm).not.toHaveProperty("AlarmActions");
        expect(alarm).not.toHaveProperty("OKActions");
      }
    });
  });
};
