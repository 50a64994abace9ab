import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { IAMClient } from "@aws-sdk/client-iam";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SQSClient } from "@aws-sdk/client-sqs";
import { SSMClient } from "@aws-sdk/client-ssm";

/** The AWS account of the stage. Emulators take an access key of twelve digits as the AWS account. */
export const AWS_ACCOUNT = "123456789012";
export const REGION = "us-east-1";

/** Environment variables of programs that use the emulator. */
export const awsEnvironment = (endpoint: string) => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: AWS_ACCOUNT,
  AWS_SECRET_ACCESS_KEY: "test",
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
});

/** Clients of the same AWS account in this process. */
export const createAwsClients = (endpoint: string) => {
  const config = {
    endpoint,
    region: REGION,
    credentials: { accessKeyId: AWS_ACCOUNT, secretAccessKey: "test" },
  };
  return {
    cloudFormation: new CloudFormationClient(config),
    dynamoDb: new DynamoDBClient(config),
    eventBridge: new EventBridgeClient(config),
    iam: new IAMClient(config),
    lambda: new LambdaClient(config),
    s3: new S3Client({ ...config, forcePathStyle: true }),
    scheduler: new SchedulerClient(config),
    sqs: new SQSClient(config),
    ssm: new SSMClient(config),
  };
};

export type AwsClients = ReturnType<typeof createAwsClients>;
