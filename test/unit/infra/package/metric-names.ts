import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { CountName, Measurement } from "../../../../lib/platform/ports/metrics.ts";
import type { TemplateReader } from "../template-reader.ts";

/** Every metric that the functions write, with its dimension in addition to the stage. */
const OURS: Readonly<Record<CountName | Measurement["name"], string | undefined>> = {
  AccountKeyRefused: "account",
  AccountKeyUnreadable: "account",
  CommandDuration: undefined,
  CommandEnded: "outcome",
  CommandNotAllowed: undefined,
  DueEntryLeft: undefined,
  EventIgnored: "reason",
  LedgerLag: undefined,
  PollerRan: undefined,
  TaskPastDeadline: undefined,
  ThresholdsRejected: undefined,
  UnknownOutcome: undefined,
  WatchlistRejected: undefined,
};

/** `namespace metric dimension …` of every metric that the functions or, by its documentation, AWS writes. */
const KNOWN = [
  ...Object.entries(OURS).map(([name, more]) =>
    ["skyhook", name, "service", more].filter(Boolean).join(" "),
  ),
  "AWS/SQS ApproximateAgeOfOldestMessage QueueName",
  "AWS/SQS ApproximateNumberOfMessagesVisible QueueName",
  "AWS/Lambda DestinationDeliveryFailures FunctionName",
  "AWS/Lambda Duration FunctionName",
  "AWS/Lambda Errors FunctionName",
  "AWS/Lambda Throttles FunctionName",
  "AWS/DynamoDB WriteThrottleEvents TableName",
  "AWS/DynamoDB WriteThrottleEvents TableName GlobalSecondaryIndexName",
  "AWS/Events InvocationsFailedToBeSentToDlq RuleName",
  "AWS/Events InvocationsFailedToBeSentToDlq EventBusName RuleName",
  "AWS/Scheduler InvocationsFailedToBeSentToDeadLetterCount ScheduleGroup",
];

const metricSchema = z.object({
  Namespace: z.string(),
  MetricName: z.string(),
  Dimensions: z.array(z.object({ Name: z.string() })),
});
const sumSchema = z.object({
  Metrics: z.array(z.object({ MetricStat: z.object({ Metric: metricSchema }).optional() })),
});
/** An alarm watches one metric, or a sum of several. */
const alarmSchema = z.union([
  metricSchema.transform((metric) => [metric]),
  sumSchema.transform(({ Metrics }) =>
    Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []),
  ),
]);
const graphsSchema = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(
    z.object({
      widgets: z.array(
        z.object({
          properties: z.object({
            region: z.string().optional(),
            metrics: z.array(z.array(z.unknown())).optional(),
          }),
        }),
      ),
    }),
  );

/** An alarm on a metric that does not exist never fires, and its graph stays empty. */
export const testMetricNames = ({ resource, ofType }: TemplateReader): void => {
  const graphs = () => {
    const { "Fn::Sub": body } = z
      .object({ "Fn::Sub": z.string() })
      .parse(resource("Dashboard").Properties.DashboardBody);
    return graphsSchema
      .parse(body)
      .widgets.map(({ properties }) => properties)
      .filter(({ metrics }) => metrics);
  };

  describe("metrics", () => {
    test("of alarms are written with these dimensions", () => {
      const used = ofType("AWS::CloudWatch::Alarm").flatMap(([, { Properties }]) =>
        alarmSchema
          .parse(Properties)
          .map(({ Namespace, MetricName, Dimensions }) =>
            [Namespace, MetricName, ...Dimensions.map(({ Name }) => Name)].join(" "),
          ),
      );

      expect(used.filter((metric) => !KNOWN.includes(metric))).toEqual([]);
    });

    test("of the dashboard are written with these dimensions, in the region of the stack", () => {
      const used = graphs().flatMap(({ metrics = [] }) =>
        metrics.map((metric) => {
          const [namespace, name, ...pairs] = metric.filter((part) => typeof part === "string");
          return [namespace, name, ...pairs.filter((_, index) => index % 2 === 0)].join(" ");
        }),
      );

      expect(used.filter((metric) => !KNOWN.includes(metric))).toEqual([]);
      for (const { region } of graphs()) expect(region).toBe(`\${AWS::Region}`);
    });
  });
};
