import { setTimeout as sleep } from "node:timers/promises";
import {
  DescribeStacksCommand,
  UpdateStackCommand,
  waitUntilStackUpdateComplete,
} from "@aws-sdk/client-cloudformation";
import { GetFunctionConfigurationCommand } from "@aws-sdk/client-lambda";
import { GetQueueAttributesCommand, GetQueueUrlCommand } from "@aws-sdk/client-sqs";
import { PutParameterCommand } from "@aws-sdk/client-ssm";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { DEMO_EVENT, DEMO_REACTION, DEMO_TEAM } from "../../lib/local/demo-teams.ts";
import { sendCommand } from "../scenarios/asking.ts";
import { AWS_ACCOUNT } from "./aws-clients.ts";
import { type DeployedStage, openDeployedStage } from "./deployed-stage.ts";
import { checkStage } from "./smoke/check-stage.ts";

/*
 * What README's "Deploy" tells people to do with a stage, done to one in that order.
 */

const CONTAINER = { project_id: 1234567, region_id: 76, container_name: "my-container" };
/** A wake, a tick of the poller and a command would all have shown by then. */
const QUIET_MS = 5_000;
const STACK_LIMIT_SECONDS = 60;

let stage: DeployedStage;
beforeAll(async () => {
  stage = await openDeployedStage(inject("awsEndpoint"), "ops");
});

const send = (commandId: string) =>
  sendCommand(stage, commandId, {
    operation: "update-container",
    params: CONTAINER,
    body: { description: commandId },
  });
const succeeded = (commandId: string) =>
  stage.events.first(
    `the success of ${commandId}`,
    ({ "detail-type": type, detail }) =>
      type === "CommandSucceeded" && detail.metadata.commandId === commandId,
  );

const setRunning = async (ParameterValue: "yes" | "no"): Promise<void> => {
  const { aws, name } = stage.stack;
  await aws.cloudFormation.send(
    new UpdateStackCommand({
      StackName: name,
      UsePreviousTemplate: true,
      Capabilities: ["CAPABILITY_IAM"],
      Parameters: [{ ParameterKey: "Running", ParameterValue }],
    }),
  );
  await waitUntilStackUpdateComplete(
    { client: aws.cloudFormation, maxWaitTime: STACK_LIMIT_SECONDS, minDelay: 1, maxDelay: 1 },
    { StackName: name },
  );
};

const waitingCommands = async (): Promise<string | undefined> => {
  const { sqs } = stage.stack.aws;
  const { QueueUrl } = await sqs.send(
    new GetQueueUrlCommand({ QueueName: stage.stack.nameOf("commands.fifo") }),
  );
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
  );
  return Attributes?.ApproximateNumberOfMessages;
};

describe("a deployed stage, by the smoke test", () => {
  checkStage(async () => ({
    aws: stage.stack.aws,
    stackName: stage.stack.name,
    awsAccount: AWS_ACCOUNT,
    eventSource: "skyhook",
    projectId: CONTAINER.project_id,
    regionId: CONTAINER.region_id,
  }));
});

describe("a deployed stage", () => {
  test("stands still when it is stopped, and loses nothing", async () => {
    await send("before-the-stop");
    await succeeded("before-the-stop");

    await setRunning("no");
    await send("while-stopped");
    const { source, "detail-type": detailType, detail } = DEMO_EVENT;
    const eventId = await stage.putFrom(DEMO_TEAM, { source, detailType, detail });
    await sleep(QUIET_MS);
    const told = stage.events.all(({ detail: { metadata } }) =>
      ["while-stopped", `${eventId}:${DEMO_REACTION}`].includes(metadata.commandId ?? ""),
    );
    const waiting = await waitingCommands();
    await setRunning("yes");

    expect(told).toEqual([]);
    expect(waiting).toBe("2");
    await succeeded("while-stopped");
    await succeeded(`${eventId}:${DEMO_REACTION}`);
  });

  test("goes on with a key that was rotated, and nothing fails or is deployed", async () => {
    const { service, stack } = stage;
    await stack.aws.ssm.send(
      new PutParameterCommand({
        Name: `/skyhook/ops/api-key`,
        Value: service.newApiKey,
        Overwrite: true,
      }),
    );
    service.revoke(service.apiKey);

    await send("with-the-new-key");

    expect((await succeeded("with-the-new-key")).detail.data).toMatchObject({ lostReplies: 0 });
    expect(stage.events.all((event) => event["detail-type"] === "AccountKeyRefused")).toEqual([]);
  });

  test("is rolled back to the package before", async () => {
    const { stack } = stage;
    const watchedTasks = async () => {
      const { Environment } = await stack.aws.lambda.send(
        new GetFunctionConfigurationCommand({ FunctionName: stack.nameOf("watch-ai-tasks") }),
      );
      return Environment?.Variables?.AI_TASK_NAME;
    };
    const first = /Timestamp: (\d+)/.exec(await stack.osls("deploy", "list", "--stage=ops"))?.[1];
    await stack.deploy({ aiTaskName: "transcription" });
    const changed = await watchedTasks();

    await stack.osls("rollback", "--stage=ops", `--timestamp=${first}`);

    expect([changed, await watchedTasks()]).toEqual(["transcription", ""]);
    await send("after-the-rollback");
    await succeeded("after-the-rollback");
  });

  test("is removed whole", async () => {
    const { aws, name } = stage.stack;
    await stage.close();

    await expect(
      aws.cloudFormation.send(new DescribeStacksCommand({ StackName: name })),
    ).rejects.toThrow(/does not exist/);
  });
});
