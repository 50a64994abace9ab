const { arnOf, nameOf } = require("./names.cjs");
const { delivery } = require("../lib/platform/deployment.json");
const { STATE } = require("./kill-switch.cjs");
const { deadLetterPolicy } = require("./queues.cjs");

/** The bucket of thresholds.yaml and watchlist.yaml, and the rule that syncs new thresholds. */
exports.configBucket = {
  ConfigBucket: {
    Type: "AWS::S3::Bucket",
    // Operators wrote the files, which must outlive the stack.
    DeletionPolicy: "Retain",
    UpdateReplacePolicy: "Retain",
    // No name: bucket names are global, and a fixed one would allow the stage in one region only.
    Properties: {
      // A history of changes. Events name the version of the config that they report.
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
    // The bucket outlives the stack and must keep its policy.
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

  /** On the default bus, where all AWS services put their events. */
  ThresholdsWritten: {
    Type: "AWS::Events::Rule",
    Properties: {
      Name: nameOf("thresholds-written"),
      // The first hourly check after a stop finds a config that was written meanwhile.
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
