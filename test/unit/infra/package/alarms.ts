import { readdirSync, readFileSync } from "node:fs";
import { join, parse } from "node:path";
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

/** Names of the functions with a destination for failed asynchronous invocations. */
export const functionsWithDestination = ({
  resource,
  ofType,
}: Pick<TemplateReader, "resource" | "ofType">): readonly unknown[] =>
  ofType("AWS::Lambda::EventInvokeConfig")
    .map(([, { Properties }]) => invokeSchema.parse(Properties))
    .filter(({ DestinationConfig }) => DestinationConfig?.OnFailure !== undefined)
    .map(({ FunctionName }) => resource(FunctionName.Ref).Properties.FunctionName);

const RUNBOOKS = "docs/operate/runbooks";

/** Names of the pages, without `.md`. */
const runbooks = (): readonly string[] => readdirSync(RUNBOOKS).map((file) => parse(file).name);

/** The first heading of a page, and those one level below it. */
const headingsOf = (runbook: string): readonly string[] =>
  readFileSync(join(RUNBOOKS, `${runbook}.md`), "utf8").match(/^##? .+$/gm) ?? [];

/**
 * The runbook of an alarm: its name without the stage, without an account's name or a number at the end, and
 * with `function` in place of a function's name.
 */
const runbookOf = (alarmName: string): string =>
  alarmName
    .replace(/^skyhook-dev-/, "")
    .replace(/^(key-[a-z]+)-.*/, "$1")
    .replace(/-\d+$/, "")
    .replace(/^.*-(errors|throttles)$/, "function-$1");

/** The most that CloudWatch allows. */
const MAX_DESCRIPTION = 1_024;

/** The alarms of a stage, their texts and their runbooks. */
export const testAlarms = ({ resource, ofType }: TemplateReader): void => {
  const alarms = () =>
    ofType("AWS::CloudWatch::Alarm").map(([, { Properties }]) => alarmSchema.parse(Properties));
  const measuring = ({ Namespace, MetricName }: Metric) =>
    alarms().filter((each) => each.Namespace === Namespace && each.MetricName === MetricName);
  const dimensionsOf = (metric: Metric) => measuring(metric).map(({ Dimensions }) => Dimensions);
  /** Conditions of the alarms on a metric, without duplicates. */
  const conditionsOf = (metric: Metric) => {
    const conditions = measuring(metric).map(
      ({ AlarmName: _name, AlarmDescription: _text, Dimensions: _of, ...condition }) =>
        JSON.stringify(condition),
    );
    return [...new Set(conditions)].map((condition): unknown => JSON.parse(condition));
  };

  describe("alarms", () => {
    test("each say in whole sentences what happened, and link the runbook that their name gives", () => {
      for (const { AlarmName, AlarmDescription } of alarms()) {
        const [text, link] = AlarmDescription.split(" Runbook: ");

        expect(text, AlarmName).toMatch(/^[A-Za-z-].* .*[^.]\.$/);
        expect(link, AlarmName).toBe(`${RUNBOOKS}/${runbookOf(AlarmName)}.md`);
        expect(AlarmDescription.length, AlarmName).toBeLessThanOrEqual(MAX_DESCRIPTION);
      }
    });

    test("each have a runbook, and each runbook belongs to an alarm", () => {
      const named = alarms().map(({ AlarmName }) => runbookOf(AlarmName));

      expect([...new Set(named)].toSorted()).toEqual(runbooks().toSorted());
    });

    test("have runbooks with a meaning, an impact and steps, in this order", () => {
      for (const runbook of runbooks()) {
        expect(headingsOf(runbook)).toEqual([
          `# ${runbook}`,
          "## Meaning",
          "## Impact",
          "## Steps",
        ]);
      }
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
          "The dead-letter queue has messages: events that intake failed to process ten times. SQS deletes them after 14 days. Runbook: docs/operate/runbooks/requests-dead-letter.md",
      });
      expect(resource("IntakeDeadLetterNotEmpty").Properties).toMatchObject({
        AlarmName: "skyhook-dev-intake-dead-letter",
        AlarmDescription:
          "The dead-letter queue has messages: events that a rule could not put into the queue requests. SQS deletes them after 14 days. Runbook: docs/operate/runbooks/intake-dead-letter.md",
      });
    });

    test("watch every source of dead letters that can be lost: rules, functions with a destination, schedules", () => {
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
          "An event or an invocation failed and could not be stored as a dead letter either. It is lost. Runbook: docs/operate/runbooks/dead-letters-lost.md",
        EvaluationPeriods: 1,
        Threshold: 1,
        ComparisonOperator: "GreaterThanOrEqualToThreshold",
        TreatMissingData: "notBreaching",
      });
    });

    test("fire when DynamoDB throttles writes to the ledger or its indexes for 15 minutes", () => {
      expect(resource("LedgerThrottled").Properties).toMatchObject({
        AlarmName: "skyhook-dev-ledger-throttled",
        EvaluationPeriods: 3,
        Threshold: 1,
        Metrics: [
          { Expression: "SUM(METRICS())" },
          ...[
            [],
            [{ Name: "GlobalSecondaryIndexName", Value: "due" }],
            [{ Name: "GlobalSecondaryIndexName", Value: "list" }],
          ].map((index) => ({
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
        "A message in the queue commands.fifo is older than 5 minutes. run-commands does not process its command. Runbook: docs/operate/runbooks/commands-waiting.md",
      ],
      [
        "RequestsWaiting",
        "requests-waiting",
        "RequestQueue",
        "An event in the queue requests is older than 5 minutes. intake does not process it, and SQS deletes it after 4 days. Runbook: docs/operate/runbooks/requests-waiting.md",
      ],
    ])(
      "%s fires at a message older than 5 minutes, before SQS stops counting its age",
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
      ["Throttles", "one in each of three periods of 5 minutes", 300, 3, 1],
    ])("watch every function's %s, and fire at %s", (MetricName, _when, ...numbers) => {
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
        "the first, and stay on between hourly checks",
        { Period: 3_600, EvaluationPeriods: 2, DatapointsToAlarm: 1 },
      ],
      [
        "WatchlistRejected",
        "the first, and stay on between hourly runs",
        { Period: 3_600, EvaluationPeriods: 2, DatapointsToAlarm: 1 },
      ],
      ["DueEntryLeft", "one in each 5 of 15 minutes", { Period: 300, EvaluationPeriods: 3 }],
    ])("of %s fire at %s", (MetricName, _when, times) => {
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

    test("fire when an entry stays due for more than 5 minutes, and not at a single late run", () => {
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

    test("fire when no run of the poller finishes for five minutes, unless the stage is stopped", () => {
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
        what: "The provider refuses the API key of the account main (/skyhook/dev/api-key).",
        runbook: "key-refused",
      },
      {
        id: "KeyUnreadablemain0d6e4079",
        name: "skyhook-dev-key-unreadable-main",
        metric: "AccountKeyUnreadable",
        what: "The API key of the account main cannot be read from /skyhook/dev/api-key, or is not valid in an HTTP header.",
        runbook: "key-unreadable",
      },
    ])("$name fires when this lasts, and names the account", (given) => {
      const { id, name, metric, what, runbook } = given;

      expect(resource(id).Properties).toEqual({
        AlarmName: name,
        AlarmDescription: `${what} Commands of the account wait until their deadlines, and its scheduled jobs stop. Runbook: ${RUNBOOKS}/${runbook}.md`,
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
