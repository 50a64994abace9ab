import { describe, expect, test } from "vitest";
import { deployment } from "../../../../lib/platform/deployment.ts";
import type { PackagedService } from "../packaged-service.ts";
import { arn, type TemplateReader } from "../template-reader.ts";

const AES256 = {
  ServerSideEncryptionConfiguration: [
    { ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } },
  ],
};

/** Payload of a schedule. Scheduler fills in the id of the attempt and the scheduled time, by its user guide. */
const TICK = '{"id":"<aws.scheduler.execution-id>","time":"<aws.scheduler.scheduled-time>"}';

/** The triggers of functions: schedules, queues, and files in the config bucket. */
export const testTriggers = (
  { resource, ofType, functionOf }: TemplateReader,
  packaged: () => PackagedService,
): void => {
  describe("schedules", () => {
    test.each([
      ["PollTick", "poll-tasks", "PollDashtasksLambdaFunction"],
      ["DriftTick", "threshold-drift", "SyncDashthresholdsLambdaFunction"],
      ["PriceTick", "price-snapshot", "SnapshotDashpricesLambdaFunction"],
      ["AiTaskTick", "ai-tasks", "WatchDashaiDashtasksLambdaFunction"],
    ] as const)(
      "%s invokes its function, retries for a limited time, then stores a dead letter",
      (...expected) => {
        const [id, name, target] = expected;
        const { expression, tickAgeSeconds } = deployment.schedules[name];

        expect(resource(id)).toEqual({
          Type: "AWS::Scheduler::Schedule",
          Properties: {
            Name: `skyhook-dev-${name}-tick`,
            GroupName: { Ref: "ScheduleGroup" },
            State: { "Fn::If": ["IsRunning", "ENABLED", "DISABLED"] },
            ScheduleExpression: expression,
            FlexibleTimeWindow: { Mode: "OFF" },
            Target: {
              Arn: arn(target),
              RoleArn: arn(`${id}Role`),
              Input: TICK,
              RetryPolicy: {
                MaximumEventAgeInSeconds: tickAgeSeconds,
                MaximumRetryAttempts: deployment.tickRetryAttempts,
              },
              DeadLetterConfig: { Arn: arn("ScheduleDeadLetter") },
            },
          },
        });
      },
    );

    // Earlier stages have schedules in the default group. CloudFormation looks for an updated schedule in its new
    // group, does not find it, and rolls back (aws-cdk issue 34216).
    test("have other ids and names than the earlier ones, which an update cannot move into the group", () => {
      const earlier = ["PollSchedule", "DriftSchedule", "PriceSchedule", "AiTaskSchedule"];
      const earlierNames = ["poll-tasks", "threshold-drift", "price-snapshot", "ai-tasks"];
      const schedules = ofType("AWS::Scheduler::Schedule");

      expect(schedules).toHaveLength(4);
      expect(schedules.map(([id]) => id).filter((id) => earlier.includes(id))).toEqual([]);
      const names = schedules.map(([, { Properties }]) => Properties.Name);
      expect(earlierNames.filter((name) => names.includes(`skyhook-dev-${name}`))).toEqual([]);
    });

    test("are in the group of the stage", () => {
      expect(resource("ScheduleGroup")).toEqual({
        Type: "AWS::Scheduler::ScheduleGroup",
        Properties: { Name: "skyhook-dev" },
      });
    });

    test.each([
      ["PollDashtasksLambdaEvConf", "poll-tasks"],
      ["SyncDashthresholdsLambdaEvConf", "sync-thresholds"],
      ["SnapshotDashpricesLambdaEvConf", "snapshot-prices"],
      ["WatchDashaiDashtasksLambdaEvConf", "watch-ai-tasks"],
    ] as const)("%s limits the retries of a failed run", (id, name) => {
      const { retryAttempts, eventAgeSeconds } = deployment.functions[name];

      expect(resource(id).Properties).toMatchObject({
        MaximumRetryAttempts: retryAttempts,
        MaximumEventAgeInSeconds: eventAgeSeconds,
      });
    });

    test.each(["poll-tasks", "watch-ai-tasks"] as const)(
      "%s does not retry a failed run; the next scheduled run does its work",
      (name) => {
        expect(deployment.functions[name].retryAttempts).toBe(0);
      },
    );

    test.each(["SyncDashthresholdsLambdaEvConf", "SnapshotDashpricesLambdaEvConf"])(
      "%s stores an invocation that failed at every retry",
      (id) => {
        expect(resource(id).Properties.DestinationConfig).toEqual({
          OnFailure: { Destination: arn("ScheduleDeadLetter") },
        });
      },
    );

    test("capture prices once in each period of a run, in its middle", () => {
      const { variables } = functionOf("SnapshotDashpricesLambdaFunction");

      expect(Number(variables.PERIOD_SECONDS)).toBe(
        deployment.schedules["price-snapshot"].periodSeconds,
      );
    });
  });

  describe("the mapping of a queue to its function", () => {
    const { functions } = deployment;

    test("passes whole batches to run-commands, which reports each failed message", () => {
      expect(resource("RunDashcommandsEventSourceMappingSQSCommandQueue").Properties).toEqual({
        EventSourceArn: arn("CommandQueue"),
        FunctionName: arn("RunDashcommandsLambdaFunction"),
        Enabled: { "Fn::If": ["IsRunning", true, false] },
        BatchSize: functions["run-commands"].batchSize,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: functions["run-commands"].maximumConcurrency },
      });
    });

    test("passes ten parallel batches of events to intake, which reports each failed message", () => {
      expect(resource("IntakeEventSourceMappingSQSRequestQueue").Properties).toEqual({
        EventSourceArn: arn("RequestQueue"),
        FunctionName: arn("IntakeLambdaFunction"),
        Enabled: { "Fn::If": ["IsRunning", true, false] },
        BatchSize: functions.intake.batchSize,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: 10 },
      });
    });

    test("runs at most two poll-tasks in parallel, for any number of wake signals", () => {
      expect(resource("PollDashtasksEventSourceMappingSQSWakeQueue").Properties).toEqual({
        EventSourceArn: arn("WakeQueue"),
        FunctionName: arn("PollDashtasksLambdaFunction"),
        Enabled: { "Fn::If": ["IsRunning", true, false] },
        BatchSize: functions["poll-tasks"].batchSize,
        ScalingConfig: { MaximumConcurrency: functions["poll-tasks"].maximumConcurrency },
      });
    });
  });

  describe("configs", () => {
    test("are in a private, versioned bucket, which outlives its stack", () => {
      expect(resource("ConfigBucket")).toEqual({
        Type: "AWS::S3::Bucket",
        DeletionPolicy: "Retain",
        UpdateReplacePolicy: "Retain",
        Properties: {
          VersioningConfiguration: { Status: "Enabled" },
          BucketEncryption: AES256,
          PublicAccessBlockConfiguration: {
            BlockPublicAcls: true,
            BlockPublicPolicy: true,
            IgnorePublicAcls: true,
            RestrictPublicBuckets: true,
          },
          NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
        },
      });
    });

    test("have a bucket that keeps its policy, and are not in the bucket of the packages", () => {
      const { DeletionPolicy, UpdateReplacePolicy } = resource("ConfigBucketPolicy");

      expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(["Retain", "Retain"]);
      expect(resource("ServerlessDeploymentBucket")).toEqual({
        Type: "AWS::S3::Bucket",
        Properties: { BucketEncryption: AES256 },
      });
    });

    test("have the name of their bucket in an output, as one of two", () => {
      const ours = Object.keys(packaged().outputs).filter(
        (id) => !/^Serverless|Qualified/.test(id),
      );

      expect(ours).toEqual(["EventBusArn", "ConfigBucketName"]);
      expect(packaged().outputs.ConfigBucketName).toMatchObject({ Value: { Ref: "ConfigBucket" } });
      expect(packaged().outputs.EventBusArn).toMatchObject({ Value: arn("EventBus") });
    });

    test("invoke sync-thresholds only when its own file is written", () => {
      const { Properties } = resource("ThresholdsWritten");
      const { variables } = functionOf("SyncDashthresholdsLambdaFunction");

      expect(Properties.EventPattern).toEqual({
        source: ["aws.s3"],
        "detail-type": ["Object Created"],
        detail: {
          bucket: { name: [variables.CONFIG_BUCKET] },
          object: { key: [variables.CONFIG_KEY] },
        },
      });
      expect(Properties.Targets).toEqual([
        {
          Id: "sync-thresholds",
          Arn: arn("SyncDashthresholdsLambdaFunction"),
          RetryPolicy: {
            MaximumEventAgeInSeconds: deployment.delivery.writtenConfig.eventAgeSeconds,
            MaximumRetryAttempts: deployment.delivery.writtenConfig.retryAttempts,
          },
          DeadLetterConfig: { Arn: arn("ScheduleDeadLetter") },
        },
      ]);
      // Without a bus, because S3 puts its events on the default one.
      expect(Properties).not.toHaveProperty("EventBusName");
    });
  });
};
