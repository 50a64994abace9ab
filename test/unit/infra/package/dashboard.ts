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

/** What people look at when they were woken. */
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

    test("shows commands, the ledger, queues, functions, the poller, keys, and work for people", () => {
      expect(widgets().graphs.map(({ title }) => title)).toEqual([
        "Commands that ended",
        "From acceptance to the end, ms",
        "The ledger: latest entry, s",
        "The ledger: entries left",
        "Messages waiting",
        "Age of the oldest message, s",
        "Dead letters",
        "Dead letters lost",
        "Failed runs",
        "Throttled runs",
        "Time of a run, p95, ms",
        "Runs of the poller",
        "Keys in trouble",
        "For a person",
      ]);
    });

    test("shows how commands ended and how long they took", () => {
      const ended = ["skyhook", "CommandEnded", "service", "skyhook-dev", "outcome"];
      const took = ["skyhook", "CommandDuration", "service", "skyhook-dev"];

      expect(metricsOf("Commands that ended")).toEqual([
        [...ended, "succeeded"],
        [...ended, "failed"],
        [...ended, "cancelled"],
        [...ended, "rejected"],
      ]);
      expect(metricsOf("From acceptance to the end, ms")).toEqual([
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

    test("shows of every rule, function and schedule what could not even become a dead letter", () => {
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

    test("has a name for each region, because names are those of the whole AWS account", () => {
      expect(resource("Dashboard").Properties.DashboardName).toEqual({
        "Fn::Sub": `skyhook-dev-dashboard-\${AWS::Region}`,
      });
    });

    test("shows each account's key", () => {
      const key = (metric: string) => [
        ...["skyhook", metric, "service", "skyhook-dev"],
        ...["account", "main"],
      ];

      expect(metricsOf("Keys in trouble")).toEqual([
        key("AccountKeyRefused"),
        key("AccountKeyUnreadable"),
      ]);
    });
  });
};
