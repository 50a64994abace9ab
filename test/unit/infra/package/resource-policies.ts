import { arn, OWN_ACCOUNT } from "../template-reader.ts";
import { FUNCTIONS } from "./functions.ts";

/**
 * Every resource policy, in full: the permissions of principals other than the functions, and the denials for
 * everyone.
 */

const rule = (path: string) => ({
  "Fn::Sub": `arn:\${AWS::Partition}:events:\${AWS::Region}:\${AWS::AccountId}:rule/${path}`,
});
const RULES_ON_OUR_BUS = rule("skyhook-dev-events/skyhook-dev-*");
const REACTIONS_ON_THE_DEFAULT_BUS = rule("skyhook-dev-reaction-*");

const encryptedOnly = (resources: readonly unknown[], isEncrypted: boolean | string) => ({
  Effect: "Deny",
  Principal: "*",
  Action: "s3:*",
  Resource: resources,
  Condition: { Bool: { "aws:SecureTransport": isEncrypted } },
});

const noPlainHttp = (queue: string) => ({
  Sid: "NoPlainHttp",
  Effect: "Deny",
  Principal: "*",
  Action: "sqs:*",
  Resource: arn(queue),
  Condition: { Bool: { "aws:SecureTransport": "false" } },
});

const nothingButTls = (queue: string) => ({
  Queues: [{ Ref: queue }],
  PolicyDocument: { Version: "2012-10-17", Statement: [noPlainHttp(queue)] },
});

const sentByUsOnly = (queue: string) => ({
  Queues: [{ Ref: queue }],
  PolicyDocument: {
    Version: "2012-10-17",
    Statement: [
      noPlainHttp(queue),
      {
        Sid: "NoOtherAwsAccount",
        Effect: "Deny",
        Principal: "*",
        Action: "sqs:SendMessage",
        Resource: arn(queue),
        Condition: {
          StringNotEqualsIfExists: { "aws:PrincipalAccount": OWN_ACCOUNT },
          BoolIfExists: { "aws:PrincipalIsAWSService": "false" },
        },
      },
      {
        Sid: "NoServiceForAnotherAwsAccount",
        Effect: "Deny",
        Principal: "*",
        Action: "sqs:SendMessage",
        Resource: arn(queue),
        Condition: {
          StringNotEqualsIfExists: { "aws:SourceAccount": OWN_ACCOUNT },
          Bool: { "aws:PrincipalIsAWSService": "true" },
        },
      },
    ],
  },
});

/** Allows rules, and no other sender, to store undelivered events. */
const leftByRules = (queue: string, condition: unknown) => ({
  Queues: [{ Ref: queue }],
  PolicyDocument: {
    Version: "2012-10-17",
    Statement: [
      noPlainHttp(queue),
      {
        Effect: "Allow",
        Principal: { Service: "events.amazonaws.com" },
        Action: "sqs:SendMessage",
        Resource: arn(queue),
        Condition: condition,
      },
    ],
  },
});

const calledByRules = (functionId: string, sourceArn: unknown) => ({
  Action: "lambda:InvokeFunction",
  FunctionName: arn(functionId),
  Principal: "events.amazonaws.com",
  SourceArn: sourceArn,
});

const DEPLOYMENT_BUCKET = { Ref: "ServerlessDeploymentBucket" };
const deploymentBucketArn = (...path: readonly string[]) => ({
  "Fn::Join": ["", ["arn:", { Ref: "AWS::Partition" }, ":s3:::", DEPLOYMENT_BUCKET, ...path]],
});

export const RESOURCE_POLICIES = {
  // Created by osls.
  ServerlessDeploymentBucketPolicy: {
    Bucket: DEPLOYMENT_BUCKET,
    PolicyDocument: {
      Statement: [encryptedOnly([deploymentBucketArn("/*"), deploymentBucketArn()], false)],
    },
  },
  ConfigBucketPolicy: {
    Bucket: { Ref: "ConfigBucket" },
    PolicyDocument: {
      Version: "2012-10-17",
      Statement: [
        {
          Sid: "NoUnencryptedTransport",
          ...encryptedOnly([arn("ConfigBucket"), { "Fn::Sub": `\${ConfigBucket.Arn}/*` }], "false"),
        },
      ],
    },
  },
  RequestQueuePolicy: {
    Queues: [{ Ref: "RequestQueue" }],
    PolicyDocument: {
      Version: "2012-10-17",
      Statement: [
        noPlainHttp("RequestQueue"),
        {
          Sid: "RulesOfThisStage",
          Effect: "Allow",
          Principal: { Service: "events.amazonaws.com" },
          Action: "sqs:SendMessage",
          Resource: arn("RequestQueue"),
          Condition: {
            ArnLike: { "aws:SourceArn": [RULES_ON_OUR_BUS, REACTIONS_ON_THE_DEFAULT_BUS] },
          },
        },
        {
          Sid: "NoOtherService",
          Effect: "Deny",
          Principal: "*",
          Action: "sqs:SendMessage",
          Resource: arn("RequestQueue"),
          Condition: {
            ArnNotLike: { "aws:SourceArn": [RULES_ON_OUR_BUS, REACTIONS_ON_THE_DEFAULT_BUS] },
            Bool: { "aws:PrincipalIsAWSService": "true" },
          },
        },
        {
          Sid: "NoOtherAwsAccount",
          Effect: "Deny",
          Principal: "*",
          Action: "sqs:SendMessage",
          Resource: arn("RequestQueue"),
          Condition: {
            StringNotEqualsIfExists: { "aws:PrincipalAccount": OWN_ACCOUNT },
            BoolIfExists: { "aws:PrincipalIsAWSService": "false" },
          },
        },
      ],
    },
  },
  CommandQueuePolicy: sentByUsOnly("CommandQueue"),
  WakeQueuePolicy: sentByUsOnly("WakeQueue"),
  CommandDeadLetterPolicy: nothingButTls("CommandDeadLetter"),
  WakeDeadLetterPolicy: nothingButTls("WakeDeadLetter"),
  RequestDeadLetterPolicy: nothingButTls("RequestDeadLetter"),
  OnlyOurFunctionsMayPut: {
    EventBusName: { Ref: "EventBus" },
    StatementId: "skyhook-dev-own-source",
    Statement: {
      Effect: "Deny",
      Principal: "*",
      Action: "events:PutEvents",
      Resource: arn("EventBus"),
      Condition: {
        "ForAnyValue:StringEquals": { "events:source": ["skyhook"] },
        ArnNotLike: { "aws:PrincipalArn": FUNCTIONS.map(({ role }) => arn(role)) },
        Null: { "aws:PrincipalArn": "false" },
      },
    },
  },
  AwsAccountsMayPut: {
    EventBusName: { Ref: "EventBus" },
    StatementId: "skyhook-dev-aws-accounts",
    Statement: {
      Effect: "Allow",
      Principal: { AWS: [{ "Fn::Sub": `arn:\${AWS::Partition}:iam::111122223333:root` }] },
      Action: "events:PutEvents",
      Resource: arn("EventBus"),
      Condition: {
        "ForAllValues:StringNotEquals": { "events:source": ["skyhook"] },
        Null: { "events:source": "false" },
      },
    },
  },
  // Two patterns, for any number of rules.
  RulesMayCallIntake: calledByRules("IntakeLambdaFunction", RULES_ON_OUR_BUS),
  DefaultRulesMayCallIntake: calledByRules("IntakeLambdaFunction", REACTIONS_ON_THE_DEFAULT_BUS),
  ThresholdsWrittenPermission: calledByRules(
    "SyncDashthresholdsLambdaFunction",
    arn("ThresholdsWritten"),
  ),
  IntakeDeadLetterPolicy: leftByRules("IntakeDeadLetter", {
    ArnLike: { "aws:SourceArn": [RULES_ON_OUR_BUS, REACTIONS_ON_THE_DEFAULT_BUS] },
  }),
  SubscriberDeadLetterPolicy: leftByRules("SubscriberDeadLetter", {
    ArnLike: { "aws:SourceArn": rule("skyhook-dev-events/skyhook-dev-subscriber-*") },
  }),
  ScheduleDeadLetterPolicy: leftByRules("ScheduleDeadLetter", {
    ArnEquals: { "aws:SourceArn": arn("ThresholdsWritten") },
  }),
};
