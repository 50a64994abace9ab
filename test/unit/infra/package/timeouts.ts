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

/** The period of a schedule. A cron expression is one that ticks once an hour. */
const secondsOf = (expression: string): number => {
  const unit = /^rate\(1 (minute|hour)\)$/.exec(expression)?.[1];
  const isHourly = /^cron\(\d+ \* \* \* \? \*\)$/.test(expression);
  return SECONDS_OF[isHourly ? "hour" : (unit ?? "")] ?? Number.NaN;
};

/** One attempt < new work < a run < what waits for the run. */
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
    test("has every function that asks the provider, which is all but intake", () => {
      const others = functionIds().filter((id) => !functionOf(id).variables.ATTEMPT_TIMEOUT_MS);

      expect(others).toEqual(["IntakeLambdaFunction"]);
    });

    test("begins with these timeouts, of which the last three seconds are for no new work", async () => {
      expect(functionIds()).toEqual(FUNCTIONS.map(({ id }) => id));
      for (const { id, name } of FUNCTIONS) {
        expect(functionOf(id).timeoutMs, id).toBe(timeoutMsOf(name));
      }
      for (const id of functionIds()) {
        const { timeoutMs, budgetMs } = await timesOf(id);

        expect(timeoutMs - budgetMs, id).toBe(3_000);
      }
    });

    test("one attempt takes less than there is for new work, and that less than a run", async () => {
      for (const id of functionIds().filter((each) => each !== "IntakeLambdaFunction")) {
        const { attemptMs, budgetMs, timeoutMs } = await timesOf(id);

        expect(attemptMs, id).toBeLessThan(budgetMs);
        expect(budgetMs, id).toBeLessThan(timeoutMs);
      }
    });

    test("a message stays hidden for six runs of the function that reads its queue", () => {
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

    test("a message does not expire before all of its receives are used up", () => {
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

    test("the lease of a command outlives the function that holds it, and not by minutes", () => {
      const { timeoutMs } = functionOf("RunDashcommandsLambdaFunction");

      expect(ATTEMPT_LEASE_MS).toBeGreaterThan(timeoutMs);
      expect(ATTEMPT_LEASE_MS).toBeLessThan(2 * timeoutMs);
    });

    test("a schedule ticks once in its period", () => {
      for (const { expression, periodSeconds } of Object.values(deployment.schedules)) {
        expect(secondsOf(expression), expression).toBe(periodSeconds);
      }
    });

    test("a tick is tried no longer than until the next, by the schedule and by Lambda", () => {
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
