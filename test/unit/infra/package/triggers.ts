import { describe, expect, test } from "vitest";
import { deployment } from "../../../../lib/platform/deployment.ts";
import type { PackagedService } from "../packaged-service.ts";
import { arn, type TemplateReader } from "../template-reader.ts";

const AES256 = {
  ServerSideEncryptionConfiguration: [
    { ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } },
  ],
};

/** Of a schedule. Scheduler puts the attempt's id and the tick's own time in, as its user guide says. */
const TICK = '{"id":"<aws.scheduler.execution-id>","time":"<aws.scheduler.scheduled-time>"}';

/** What calls functions: schedules, queues, and files in the config bucket. */
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
      "%s calls its function, retries for a while, then keeps the tick",
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

    // CloudFormation looks for an updated schedule in its new group, does not find it, and rolls back
    // (aws-cdk issue 34216). These were deployed in the default group.
    test("are none of those that stages had outside the group, which an update cannot move", () => {
      const earlier = ["PollSchedule", "DriftSchedule", "PriceSchedule", "AiTaskSchedule"];
      const earlierNames = ["poll-tasks", "threshold-drift", "price-snapshot", "ai-tasks"];
      const schedules = ofType("AWS::Scheduler::Schedule");

      expect(schedules).toHaveLength(4);
      expect(schedules.map(([id]) => id).filter((id) => earlier.includes(id))).toEqual([]);
      const names = schedules.map(([, { Properties }]) => Properties.Name);
      expect(earlierNames.filter((name) => names.includes(`skyhook-dev-${name}`))).toEqual([]);
    });

    test("are in a group of their own", () => {
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
    ] as const)("%s says how often a failed run is tried again", (id, name) => {
      const { retryAttempts, eventAgeSeconds } = deployment.functions[name];

      expect(resource(id).Properties).toMatchObject({
        MaximumRetryAttempts: retryAttempts,
        MaximumEventAgeInSeconds: eventAgeSeconds,
      });
    });

    test.each(["poll-tasks", "watch-ai-tasks"] as const)(
      "%s leaves a failed run to the next tick",
      (name) => {
        expect(deployment.functions[name].retryAttempts).toBe(0);
      },
    );

    test.each(["SyncDashthresholdsLambdaEvConf", "SnapshotDashpricesLambdaEvConf"])(
      "%s keeps the call that failed at every retry",
      (id) => {
        expect(resource(id).Properties.DestinationConfig).toEqual({
          OnFailure: { Destination: arn("ScheduleDeadLetter") },
        });
      },
    );

    test("take prices once in each period that a run is known by, in its middle", () => {
      const { variables } = functionOf("SnapshotDashpricesLambdaFunction");

      expect(Number(variables.PERIOD_SECONDS)).toBe(
        deployment.schedules["price-snapshot"].periodSeconds,
      );
    });
  });

  describe("the mapping of a queue to its function", () => {
    const { functions } = deployment;

    test("gives run-commands each batch at once, and receives each failed message's id", () => {
      expect(resource("RunDashcommandsEventSourceMappingSQSCommandQueue").Properties).toEqual({
        EventSourceArn: arn("CommandQueue"),
        FunctionName: arn("RunDashcommandsLambdaFunction"),
        Enabled: { "Fn::If": ["IsRunning", true, false] },
        BatchSize: functions["run-commands"].batchSize,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: functions["run-commands"].maximumConcurrency },
      });
    });

    test("gives intake ten batches of events side by side, and receives each failed message's id", () => {
      expect(resource("IntakeEventSourceMappingSQSRequestQueue").Properties).toEqual({
        EventSourceArn: arn("RequestQueue"),
        FunctionName: arn("IntakeLambdaFunction"),
        Enabled: { "Fn::If": ["IsRunning", true, false] },
        BatchSize: functions.intake.batchSize,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: 10 },
      });
    });

    test("runs poll-tasks at most twice side by side, whatever the burst of wakes", () => {
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
    test("are in a private bucket with versions, which outlives its stack", () => {
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

    test("have a bucket whose policy stays with it, and are not in the one of the packages", () => {
      const { DeletionPolicy, UpdateReplacePolicy } = resource("ConfigBucketPolicy");

      expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(["Retain", "Retain"]);
      expect(resource("ServerlessDeploymentBucket")).toEqual({
        Type: "AWS::S3::Bucket",
        Properties: { BucketEncryption: AES256 },
      });
    });

    test("have their bucket's name in an output; the only other one is where events are sent to", () => {
      const ours = Object.keys(packaged().outputs).filter(
        (id) => !/^Serverless|Qualified/.test(id),
      );

      expect(ours).toEqual(["EventBusArn", "ConfigBucketName"]);
      expect(packaged().outputs.ConfigBucketName).toMatchObject({ Value: { Ref: "ConfigBucket" } });
      expect(packaged().outputs.EventBusArn).toMatchObject({ Value: arn("EventBus") });
    });

    test("call sync-thresholds when its own one is written, and no other", () => {
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
      // Without a bus: S3 notifies the default one.
      expect(Properties).not.toHaveProperty("EventBusName");
    });
  });
};
