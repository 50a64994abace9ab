const { delivery } = require("../lib/platform/deployment.json");
const { arnOf } = require("./arn.cjs");
const { STATE } = require("./kill-switch.cjs");
const { nameOf } = require("./name.cjs");
const { deadLetterPolicy } = require("./queue-policies.cjs");

/** Where people put the configs: thresholds.yaml and watchlist.yaml. */
module.exports = {
  ConfigBucket: {
    Type: "AWS::S3::Bucket",
    // Removing a stage must not remove what people wrote.
    DeletionPolicy: "Retain",
    UpdateReplacePolicy: "Retain",
    // No name: bucket names are global, and a fixed one would keep a stage out of a second region.
    Properties: {
      // Who wanted what since when; also tells in an event which version was meant.
      VersioningConfiguration: { Status: "Enabled" },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          { ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } },
        ],
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
    },
  },

  ConfigBucketPolicy: {
    Type: "AWS::S3::BucketPolicy",
    // The bucket stays when the stage goes, and is to stay as it was.
    DeletionPolicy: "Retain",
    UpdateReplacePolicy: "Retain",
    Properties: {
      Bucket: { Ref: "ConfigBucket" },
      PolicyDocument: {
        Version: "2012-10-17",
        Statement: [
          {
            Sid: "NoUnencryptedTransport",
            Effect: "Deny",
            Principal: "*",
            Action: "s3:*",
            Resource: [arnOf("ConfigBucket"), { "Fn::Sub": `\${ConfigBucket.Arn}/*` }],
            Condition: { Bool: { "aws:SecureTransport": "false" } },
          },
        ],
      },
    },
  },

  /** S3 tells the default bus, where AWS services put their events. */
  ThresholdsWritten: {
    Type: "AWS::Events::Rule",
    Properties: {
      Name: nameOf("thresholds-written"),
      // What is written while everything stands still, the first hourly look finds.
      State: STATE,
      EventPattern: {
        source: ["aws.s3"],
        "detail-type": ["Object Created"],
        detail: {
          bucket: { name: [{ Ref: "ConfigBucket" }] },
          object: { key: ["thresholds.yaml"] },
        },
      },
      Targets: [
        {
          Id: "sync-thresholds",
          Arn: arnOf("SyncDashthresholdsLambdaFunction"),
          RetryPolicy: {
            MaximumEventAgeInSeconds: delivery.writtenConfig.eventAgeSeconds,
            MaximumRetryAttempts: delivery.writtenConfig.retryAttempts,
          },
          DeadLetterConfig: { Arn: arnOf("ScheduleDeadLetter") },
        },
      ],
    },
  },
  ThresholdsWrittenPermission: {
    Type: "AWS::Lambda::Permission",
    Properties: {
      Action: "lambda:InvokeFunction",
      FunctionName: arnOf("SyncDashthresholdsLambdaFunction"),
      Principal: "events.amazonaws.com",
      SourceArn: arnOf("ThresholdsWritten"),
    },
  },
  ScheduleDeadLetterPolicy: deadLetterPolicy("ScheduleDeadLetter", {
    ArnEquals: { "aws:SourceArn": arnOf("ThresholdsWritten") },
  }),
};
