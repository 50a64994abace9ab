import { describe, expect, test } from "vitest";
import { deployment } from "../../../../lib/platform/deployment.ts";
import type { TemplateReader } from "../template-reader.ts";
import { FUNCTIONS } from "./functions.ts";

/** Resource types that take all their numbers from the deployment. */
const TYPES = [
  "AWS::Lambda::Function",
  "AWS::Lambda::EventInvokeConfig",
  "AWS::Lambda::EventSourceMapping",
  "AWS::SQS::Queue",
  "AWS::Scheduler::Schedule",
  "AWS::Events::Rule",
  "AWS::Events::Archive",
  "AWS::Logs::LogGroup",
];

type Numbers = Readonly<Record<string, unknown>>;

/** Numbers and schedules by property name, at any depth, without those for a stopped stage. */
const numbersIn = (value: unknown): Numbers => {
  if (typeof value !== "object" || value === null) return {};
  return Object.assign(
    {},
    ...Object.entries(value).map(([name, each]) => {
      if (name === "Fn::If") return {};
      const isNumber = typeof each === "number" || name === "ScheduleExpression";
      return isNumber ? { [name]: each } : numbersIn(each);
    }),
  );
};

/** The numbers of a function in the JSON, by CloudFormation's property names. */
const functionNumbers = ({ id, name }: (typeof FUNCTIONS)[number]): Record<string, Numbers> => {
  const numbers = deployment.functions[name];
  const base = id.replace("LambdaFunction", "");
  return {
    [id]: { Timeout: numbers.timeoutSeconds, MemorySize: deployment.memoryMegabytes },
    [`${base}LogGroup`]: { RetentionInDays: deployment.logRetentionDays },
    ...("retryAttempts" in numbers && {
      [`${base}LambdaEvConf`]: {
        MaximumRetryAttempts: numbers.retryAttempts,
        MaximumEventAgeInSeconds: numbers.eventAgeSeconds,
      },
    }),
  };
};

const { functions, queues, schedules, delivery } = deployment;

const queueNumbers = (queue: keyof typeof queues): Numbers => ({
  MaximumMessageSize: deployment.maxMessageBytes,
  VisibilityTimeout: queues[queue].visibilitySeconds,
  MessageRetentionPeriod: queues[queue].retentionSeconds,
  maxReceiveCount: queues[queue].maxReceiveCount,
});

const scheduleNumbers = (schedule: keyof typeof schedules): Numbers => ({
  ScheduleExpression: schedules[schedule].expression,
  MaximumEventAgeInSeconds: schedules[schedule].tickAgeSeconds,
  MaximumRetryAttempts: deployment.tickRetryAttempts,
});

const retryNumbers = ({ eventAgeSeconds, retryAttempts }: typeof delivery.rules): Numbers => ({
  MaximumEventAgeInSeconds: eventAgeSeconds,
  MaximumRetryAttempts: retryAttempts,
});

const EXPECTED: Readonly<Record<string, Numbers>> = {
  ...Object.assign({}, ...FUNCTIONS.map(functionNumbers)),
  IntakeEventSourceMappingSQSRequestQueue: {
    BatchSize: functions.intake.batchSize,
    // A stage parameter.
    MaximumConcurrency: expect.any(Number),
  },
  RunDashcommandsEventSourceMappingSQSCommandQueue: {
    BatchSize: functions["run-commands"].batchSize,
    MaximumConcurrency: functions["run-commands"].maximumConcurrency,
  },
  PollDashtasksEventSourceMappingSQSWakeQueue: {
    BatchSize: functions["poll-tasks"].batchSize,
    MaximumConcurrency: functions["poll-tasks"].maximumConcurrency,
  },
  RequestQueue: queueNumbers("requests"),
  CommandQueue: queueNumbers("commands"),
  WakeQueue: queueNumbers("wake"),
  PollTick: scheduleNumbers("poll-tasks"),
  DriftTick: scheduleNumbers("threshold-drift"),
  PriceTick: scheduleNumbers("price-snapshot"),
  AiTaskTick: scheduleNumbers("ai-tasks"),
  ThresholdsWritten: retryNumbers(delivery.writtenConfig),
  OutgoingArchive: { RetentionDays: deployment.archiveRetentionDays },
};

const expectedOf = (id: string, type: string): Numbers => {
  const deadLetters = {
    MaximumMessageSize: deployment.maxMessageBytes,
    MessageRetentionPeriod: deployment.deadLetterRetentionSeconds,
  };
  if (type === "AWS::SQS::Queue") return EXPECTED[id] ?? deadLetters;
  if (type === "AWS::Events::Rule") return EXPECTED[id] ?? retryNumbers(delivery.rules);
  return EXPECTED[id] ?? {};
};

/** Compares every number of the template with lib/platform/deployment.json. */
export const testNumbers = ({ ofType, functionOf }: TemplateReader): void => {
  describe("the deployment's numbers", () => {
    test.each(TYPES)("are those of each %s", (type) => {
      const found = ofType(type).map(([id, { Properties }]) => [id, numbersIn(Properties)]);
      const expected = found.map(([id]) => [id, expectedOf(String(id), type)]);

      expect(found.length).toBeGreaterThan(0);
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
    });

    test("belong to resources that the template has", () => {
      const ids = TYPES.flatMap((type) => ofType(type).map(([id]) => id));

      expect(Object.keys(EXPECTED).filter((id) => !ids.includes(id))).toEqual([]);
    });

    test("are equal in the settings of the functions", () => {
      for (const { id, name } of FUNCTIONS.filter((each) => each.name !== "intake")) {
        expect(functionOf(id).variables.ATTEMPT_TIMEOUT_MS, name).toBe(
          String(deployment.attemptTimeoutSeconds * 1000),
        );
      }
      expect(functionOf("SnapshotDashpricesLambdaFunction").variables.PERIOD_SECONDS).toBe(
        String(schedules["price-snapshot"].periodSeconds),
      );
    });
  });
};
