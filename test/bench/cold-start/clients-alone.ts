import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";

/** The clients of run-commands and nothing else; each does one call. */
const dynamodb = new DynamoDBClient();
const eventbridge = new EventBridgeClient();
const sqs = new SQSClient();
const ssm = new SSMClient();

export const handler = async (): Promise<void> => {
  const { TABLE_NAME, COMMAND_QUEUE_URL, FINGERPRINT_KEY_PARAMETER } = process.env;
  await ssm.send(new GetParameterCommand({ Name: FINGERPRINT_KEY_PARAMETER }));
  await dynamodb.send(new GetItemCommand({ TableName: TABLE_NAME, Key: { pk: { S: "none" } } }));
  await sqs.send(new SendMessageCommand({ QueueUrl: COMMAND_QUEUE_URL, MessageBody: "{}" }));
  await eventbridge.send(new PutEventsCommand({ Entries: [{ Source: "bench", Detail: "{}" }] }));
};
