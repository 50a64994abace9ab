import { describe, expect, test } from "vitest";
import * as z from "zod";
import { lambdaContext } from "../../../../lib/local/aws-events.ts";
import { ATTEMPT_LEASE_MS, deployment, timeoutMsOf } from "../../../../lib/platform/deployment.ts";
import { withTimeBudget } from "../../../../lib/platform/lambda/invocation.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";
import type { TemplateReader } from "../template-reader.ts";
import { FUNCTIONS } from "./functions.ts";

const attributeSchema = z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) });
const idOf = (reference: unknown): string => attributeSchema.parse(reference)["Fn::GetAtt"][0];

const queueSchema = z.object({
  VisibilityTimeout: z.number(),
  MessageRetentionPeriod: z.number(),
  RedrivePolicy: z.object({ maxReceiveCount: z.number() }),
});
const scheduleSchema = z.object({
  ScheduleExpression: z.string(),
  Target: z.object({
    Arn: z.unknown(),
    RetryPolicy: z.object({ MaximumEventAgeInSeconds: z.number() }),
  }),
});
const invokeSchema = z.object({ FunctionName: z.unknown(), MaximumEventAgeInSeconds: z.number() });

const SECONDS_OF: Readonly<Record<string, number>> = { minute: 60, hour: 3_600 };

/** Period of a schedule in seconds. A cron expression must be an hourly one. */
const secondsOf = (expression: string): number => {
  const unit = /^rate\(1 (minute|hour)\)$/.exec(expression)?.[1];
  const isHourly = /^cron\(\d+ \* \* \* \? \*\)$/.test(expression);
  return SECONDS_OF[isHourly ? "hour" : (unit ?? "")] ?? Number.NaN;
};

/** One attempt < time for new work < timeout of a run < limits of its callers. */
export const testTimeouts = ({ resource, ofType, functionOf }: TemplateReader): void => {
  const timesOf = async (id: string) => {
    const { timeoutMs, variables } = functionOf(id);
    const clock = createVirtualClock();
    const context = lambdaContext("test", timeoutMs, { clock, random: createSeededRandom(1) });
    const endsAt = await withTimeBudget(context, clock, async (budget) => budget.endsAt);
    const budgetMs = endsAt - clock.now();
    return { timeoutMs, budgetMs, attemptMs: Number(variables.ATTEMPT_TIMEOUT_MS) };
  };
  const functionIds = () => ofType("AWS::Lambda::Function").map(([id]) => id);

  describe("the chain of timeouts", () => {
    test("covers every function that sends requests to the provider: all but intake", () => {
      const others = functionIds().filter((id) => !functionOf(id).variables.ATTEMPT_TIMEOUT_MS);

      expect(others).toEqual(["IntakeLambdaFunction"]);
    });

    test("starts with these timeouts, in which the last three seconds start no new work", async () => {
      expect(functionIds()).toEqual(FUNCTIONS.map(({ id }) => id));
      for (const { id, name } of FUNCTIONS) {
        expect(functionOf(id).timeoutMs, id).toBe(timeoutMsOf(name));
      }
      for (const id of functionIds()) {
        const { timeoutMs, budgetMs } = await timesOf(id);

        expect(timeoutMs - budgetMs, id).toBe(3_000);
      }
    });

    test("one attempt is shorter than the time for new work, which is shorter than a run", async () => {
      for (const id of functionIds().filter((each) => each !== "IntakeLambdaFunction")) {
        const { attemptMs, budgetMs, timeoutMs } = await timesOf(id);

        expect(attemptMs, id).toBeLessThan(budgetMs);
        expect(budgetMs, id).toBeLessThan(timeoutMs);
      }
    });

    test("a message is invisible for six timeouts of the function that reads its queue", () => {
      const mappings = ofType("AWS::Lambda::EventSourceMapping").map(([, { Properties }]) => ({
        queue: idOf(Properties.EventSourceArn),
        function: idOf(Properties.FunctionName),
      }));

      expect(mappings.map(({ queue }) => queue)).toEqual([
        "RequestQueue",
        "CommandQueue",
        "WakeQueue",
      ]);
      for (const mapping of mappings) {
        const { VisibilityTimeout } = queueSchema.parse(resource(mapping.queue).Properties);
        const { timeoutMs } = functionOf(mapping.function);

        expect(VisibilityTimeout * 1000, mapping.queue).toBe(6 * timeoutMs);
      }
    });

    test("a message does not expire before its last receive", () => {
      const read = ofType("AWS::SQS::Queue").filter(([, each]) => each.Properties.RedrivePolicy);

      expect(read.map(([id]) => id)).toEqual(["CommandQueue", "WakeQueue", "RequestQueue"]);
      for (const [id, { Properties }] of read) {
        const { MessageRetentionPeriod, VisibilityTimeout, RedrivePolicy } =
          queueSchema.parse(Properties);

        expect(MessageRetentionPeriod, id).toBeGreaterThan(
          RedrivePolicy.maxReceiveCount * VisibilityTimeout,
        );
      }
    });

    test("the lease of a command outlasts the function that holds it, by less than a minute", () => {
      const { timeoutMs } = functionOf("RunDashcommandsLambdaFunction");

      expect(ATTEMPT_LEASE_MS).toBeGreaterThan(timeoutMs);
      expect(ATTEMPT_LEASE_MS).toBeLessThan(2 * timeoutMs);
    });

    test("a schedule fires once in its period", () => {
      for (const { expression, periodSeconds } of Object.values(deployment.schedules)) {
        expect(secondsOf(expression), expression).toBe(periodSeconds);
      }
    });

    test("the schedule and Lambda retry a run no longer than until the next one", () => {
      const schedules = ofType("AWS::Scheduler::Schedule");

      expect(schedules).toHaveLength(4);
      for (const [id, { Properties }] of schedules) {
        const { ScheduleExpression, Target } = scheduleSchema.parse(Properties);
        const periodSeconds = secondsOf(ScheduleExpression);
        const [, invoke] = ofType("AWS::Lambda::EventInvokeConfig").find(
          ([each]) => each === idOf(Target.Arn).replace("LambdaFunction", "LambdaEvConf"),
        ) ?? [id, undefined];

        expect(Target.RetryPolicy.MaximumEventAgeInSeconds, id).toBeLessThanOrEqual(periodSeconds);
        expect(
          invokeSchema.parse(invoke?.Properties).MaximumEventAgeInSeconds,
          id,
        ).toBeLessThanOrEqual(periodSeconds);
      }
    });
  });
};
