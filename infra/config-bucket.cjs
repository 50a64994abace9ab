const { arnOf, nameOf } = require("./names.cjs");
const { delivery } = require("../lib/platform/deployment.json");
const { STATE } = require("./kill-switch.cjs");
const { deadLetterPolicy } = require("./queues.cjs");

/** Where people put the configs: thresholds.yaml and watchlist.yaml. */
exports.configBucket = {
  ConfigBucket: {
    Type: "AWS::S3::Bucket",
    // Removing a stage must not remove what people wrote.
    DeletionPolicy: "Retain",
    UpdateReplacePolicy: "Retain",
    // No name: bucket names are global, and a fixed one would keep a stage out of a second region.
    Properties: {
      // Keeps who changed what and when; an event names the version that it is about.
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

  /** S3 puts its events on the default bus, as all AWS services do. */
  ThresholdsWritten: {
    Type: "AWS::Events::Rule",
    Properties: {
      Name: nameOf("thresholds-written"),
      // A config written while the stage is stopped is found by the first hourly check.
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
