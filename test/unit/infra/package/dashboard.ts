import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { TemplateReader } from "../template-reader.ts";
import { functionsWithDestination } from "./alarms.ts";

const dashboardSchema = z.object({
  DashboardBody: z.object({ "Fn::Sub": z.string() }),
});
const widgetsSchema = z.object({
  widgets: z.tuple(
    [z.object({ type: z.literal("alarm"), properties: z.object({ alarms: z.array(z.string()) }) })],
    z.object({
      type: z.literal("metric"),
      properties: z.object({ title: z.string(), metrics: z.array(z.array(z.unknown())) }),
    }),
  ),
});

/** The dashboard, which operators open first. */
export const testDashboard = ({ resource, ofType }: TemplateReader): void => {
  const widgets = () => {
    const { DashboardBody } = dashboardSchema.parse(resource("Dashboard").Properties);
    const [alarms, ...graphs] = widgetsSchema.parse(JSON.parse(DashboardBody["Fn::Sub"])).widgets;
    return { alarms: alarms.properties.alarms, graphs: graphs.map((each) => each.properties) };
  };
  const metricsOf = (title: string) =>
    widgets().graphs.find((graph) => graph.title === title)?.metrics;

  describe("the dashboard", () => {
    test("shows every alarm", () => {
      expect(widgets().alarms).toEqual(
        ofType("AWS::CloudWatch::Alarm").map(([id]) => `\${${id}.Arn}`),
      );
    });

    test("shows commands, the ledger, queues, functions, the poller, API keys and incidents", () => {
      expect(widgets().graphs.map(({ title }) => title)).toEqual([
        "Commands that ended",
        "Duration of a command, ms",
        "Ledger: delay of the latest entry, s",
        "Ledger: failed entries",
        "Messages waiting",
        "Age of the oldest message, s",
        "Dead letters",
        "Dead letters lost",
        "Failed runs",
        "Throttled runs",
        "Duration of a run, p95, ms",
        "Finished runs of the poller",
        "API key failures",
        "Incidents for an operator",
      ]);
    });

    test("shows the ends and the duration of commands", () => {
      const ended = ["skyhook", "CommandEnded", "service", "skyhook-dev", "outcome"];
      const took = ["skyhook", "CommandDuration", "service", "skyhook-dev"];

      expect(metricsOf("Commands that ended")).toEqual([
        [...ended, "succeeded"],
        [...ended, "failed"],
        [...ended, "cancelled"],
        [...ended, "rejected"],
      ]);
      expect(metricsOf("Duration of a command, ms")).toEqual([
        [...took, { stat: "p50" }],
        [...took, { stat: "p95" }],
      ]);
    });

    test("shows every function and every dead-letter queue", () => {
      const functions = ofType("AWS::Lambda::Function").map(([, each]) => each.Properties);
      const queues = ofType("AWS::SQS::Queue").filter(([id]) => id.endsWith("DeadLetter"));

      expect(metricsOf("Failed runs")).toEqual(
        functions.map((each) => ["AWS/Lambda", "Errors", "FunctionName", each.FunctionName]),
      );
      expect(metricsOf("Dead letters")?.map((metric) => metric[3])).toEqual(
        queues.map(([id]) => `\${${id}.QueueName}`),
      );
    });

    test("shows how many messages wait in each queue that a function reads, and for how long", () => {
      const queues = ["CommandQueue", "WakeQueue", "RequestQueue"].map(
        (id) => `\${${id}.QueueName}`,
      );

      expect(metricsOf("Messages waiting")?.map((metric) => metric[3])).toEqual(queues);
      expect(metricsOf("Age of the oldest message, s")?.map((metric) => metric[3])).toEqual(queues);
    });

    test("shows the lost dead letters of every rule, function and schedule", () => {
      const lost = metricsOf("Dead letters lost")?.map((metric) => metric.join(" "));
      const rules = ofType("AWS::Events::Rule").map(([, { Properties }]) => {
        const bus = Properties.EventBusName ? "EventBusName skyhook-dev-events " : "";
        return `AWS/Events InvocationsFailedToBeSentToDlq ${bus}RuleName ${Properties.Name}`;
      });
      const functions = functionsWithDestination({ resource, ofType }).map(
        (name) => `AWS/Lambda DestinationDeliveryFailures FunctionName ${name}`,
      );

      expect(rules).toHaveLength(5);
      expect(lost).toEqual([
        ...rules,
        ...functions,
        "AWS/Scheduler InvocationsFailedToBeSentToDeadLetterCount ScheduleGroup skyhook-dev",
      ]);
    });

    test("has the region in its name, because the name is unique in the AWS account", () => {
      expect(resource("Dashboard").Properties.DashboardName).toEqual({
        "Fn::Sub": `skyhook-dev-dashboard-\${AWS::Region}`,
      });
    });

    test("shows the API key failures of each account", () => {
      const key = (metric: string) => [
        ...["skyhook", metric, "service", "skyhook-dev"],
        ...["account", "main"],
      ];

      expect(metricsOf("API key failures")).toEqual([
        key("AccountKeyRefused"),
        key("AccountKeyUnreadable"),
      ]);
    });
  });
};
