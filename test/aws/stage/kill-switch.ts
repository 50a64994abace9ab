import { UpdateStackCommand, waitUntilStackUpdateComplete } from "@aws-sdk/client-cloudformation";
import { ListEventSourceMappingsCommand } from "@aws-sdk/client-lambda";
import { GetScheduleCommand, ListSchedulesCommand } from "@aws-sdk/client-scheduler";
import { GetQueueAttributesCommand, GetQueueUrlCommand } from "@aws-sdk/client-sqs";
import type { DeployedStack } from "../deployed-stack.ts";

const STACK_LIMIT_SECONDS = 60;

/** Stops or restarts the stage: docs/operate/stop-and-replay.md. Does nothing if the state is already so. */
export const setRunning = async (
  { aws, name }: DeployedStack,
  ParameterValue: "yes" | "no",
): Promise<void> => {
  const StackName = name;
  const update = new UpdateStackCommand({
    StackName,
    UsePreviousTemplate: true,
    Capabilities: ["CAPABILITY_IAM"],
    Parameters: [{ ParameterKey: "Running", ParameterValue }],
  });
  try {
    await aws.cloudFormation.send(update);
  } catch (error) {
    if (String(error).includes("No updates are to be performed")) return;
    throw error;
  }
  await waitUntilStackUpdateComplete(
    { client: aws.cloudFormation, maxWaitTime: STACK_LIMIT_SECONDS, minDelay: 1, maxDelay: 1 },
    { StackName },
  );
};

/** States of all event source mappings and schedules. */
export const triggerStates = async ({ aws, name, nameOf }: DeployedStack) => {
  const mappings: unknown[] = [];
  for (const thing of ["intake", "run-commands", "poll-tasks"]) {
    const { EventSourceMappings = [] } = await aws.lambda.send(
      new ListEventSourceMappingsCommand({ FunctionName: nameOf(thing) }),
    );
    mappings.push(...EventSourceMappings.map(({ State }) => State));
  }
  const { Schedules = [] } = await aws.scheduler.send(
    new ListSchedulesCommand({ GroupName: name }),
  );
  const schedules: unknown[] = [];
  for (const { GroupName, Name } of Schedules) {
    schedules.push((await aws.scheduler.send(new GetScheduleCommand({ GroupName, Name }))).State);
  }
  return { mappings, schedules };
};

/** Number of messages in a queue, as SQS reports it. */
export const messagesIn = async (
  { aws, nameOf }: DeployedStack,
  queue: "commands.fifo" | "requests",
): Promise<string | undefined> => {
  const QueueName = nameOf(queue);
  const { QueueUrl } = await aws.sqs.send(new GetQueueUrlCommand({ QueueName }));
  const { Attributes } = await aws.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
  );
  return Attributes?.ApproximateNumberOfMessages;
};
