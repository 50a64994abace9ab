import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { DescribeTableCommand, ResourceNotFoundException } from "@aws-sdk/client-dynamodb";
import {
  CreateArchiveCommand,
  DeleteArchiveCommand,
  DescribeReplayCommand,
  StartReplayCommand,
} from "@aws-sdk/client-eventbridge";
import { GetFunctionConfigurationCommand, InvokeCommand } from "@aws-sdk/client-lambda";
import { GetQueueUrlCommand, PurgeQueueCommand } from "@aws-sdk/client-sqs";
import { PutParameterCommand } from "@aws-sdk/client-ssm";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { DEMO_EVENT, DEMO_REACTION, DEMO_TEAM } from "../../lib/cli/demo/world.ts";
import { sendCommand, successOf } from "../system/scenarios/stage.ts";
import { AWS_ACCOUNT, REGION } from "./aws-clients.ts";
import { type DeployedStage, openDeployedStage } from "./deployed-stage.ts";
import { checkStage } from "./smoke/check-stage.ts";
import { messagesIn, setRunning, triggerStates } from "./stage/kill-switch.ts";

/*
 * The procedures of docs/operate on one stage, in this order.
 */

const CONTAINER = { project_id: 1234567, region_id: 76, container_name: "my-container" };
/** Longer than a function needs to receive a message of its queue, which is a second. */
const QUIET_MS = 5_000;
const HOUR_MS = 3_600_000;

let stage: DeployedStage;
beforeAll(async () => {
  stage = await openDeployedStage(inject("awsEndpoint"));
});
afterAll(() => stage?.close());

const send = (commandId: string, eventId = commandId) =>
  sendCommand(
    stage,
    commandId,
    { operation: "update-container", params: CONTAINER, body: { description: commandId } },
    eventId,
  );
/** The event that requests the command. */
const requestOf = (commandId: string) => ({
  source: "billing",
  detailType: "CommandRequested",
  detail: {
    metadata: { commandId },
    data: {
      operation: "update-container",
      params: CONTAINER,
      body: { description: commandId },
    },
  },
});
const succeeded = (commandId: string) => successOf(stage, commandId);

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
  test("runs no command while it is stopped, and loses none", async () => {
    await send("before-the-stop");
    await succeeded("before-the-stop");

    onTestFinished(() => setRunning(stage.stack, "yes"));
    await setRunning(stage.stack, "no");
    const stopped = await triggerStates(stage.stack);
    await send("while-stopped");
    const { source, "detail-type": detailType, detail } = DEMO_EVENT;
    const eventId = await stage.putFrom(DEMO_TEAM, { source, detailType, detail });
    await expect.poll(() => messagesIn(stage.stack, "requests")).toBe("1");
    await sleep(QUIET_MS);
    const waiting = [
      await messagesIn(stage.stack, "requests"),
      await messagesIn(stage.stack, "commands.fifo"),
    ];
    const published = stage.events.all(({ detail: { metadata } }) =>
      ["while-stopped", `${eventId}:${DEMO_REACTION}`].includes(metadata.commandId ?? ""),
    );
    await setRunning(stage.stack, "yes");

    expect(published).toEqual([]);
    expect(waiting).toEqual(["1", "1"]);
    expect(stopped).toEqual({
      mappings: ["Disabled", "Disabled", "Disabled"],
      schedules: Array(4).fill("DISABLED"),
    });
    expect(await triggerStates(stage.stack)).toEqual({
      mappings: ["Enabled", "Enabled", "Enabled"],
      schedules: Array(4).fill("ENABLED"),
    });
    await succeeded("while-stopped");
    await succeeded(`${eventId}:${DEMO_REACTION}`);
  });

  test("runs the replayed events of an archive after a stop of more than 4 days", async () => {
    const { aws, nameOf } = stage.stack;
    const archive = nameOf("incoming");
    const arnOf = (resource: string) => `arn:aws:events:${REGION}:${AWS_ACCOUNT}:${resource}`;
    const busArn = arnOf(`event-bus/${nameOf("events")}`);
    onTestFinished(() => setRunning(stage.stack, "yes"));
    await setRunning(stage.stack, "no");
    await aws.eventBridge.send(
      new CreateArchiveCommand({
        ArchiveName: archive,
        EventSourceArn: busArn,
        EventPattern: '{"source": [{"anything-but": ["skyhook"]}]}',
        RetentionDays: 30,
      }),
    );
    await stage.putFrom(AWS_ACCOUNT, requestOf("replayed"));
    await expect.poll(() => messagesIn(stage.stack, "requests")).toBe("1");
    // SQS deletes messages after four days.
    const { QueueUrl } = await aws.sqs.send(
      new GetQueueUrlCommand({ QueueName: nameOf("requests") }),
    );
    await aws.sqs.send(new PurgeQueueCommand({ QueueUrl }));

    const ReplayName = nameOf("after-the-stop");
    await aws.eventBridge.send(
      new StartReplayCommand({
        ReplayName,
        EventSourceArn: arnOf(`archive/${archive}`),
        EventStartTime: new Date(Date.now() - HOUR_MS),
        EventEndTime: new Date(Date.now() + HOUR_MS),
        Destination: { Arn: busArn },
      }),
    );
    const replay = new DescribeReplayCommand({ ReplayName });
    await expect.poll(async () => (await aws.eventBridge.send(replay)).State).toBe("COMPLETED");
    await aws.eventBridge.send(new DeleteArchiveCommand({ ArchiveName: archive }));
    await setRunning(stage.stack, "yes");

    await succeeded("replayed");
  });

  test("accepts an event that waits in Lambda during the update from rules that invoke intake", async () => {
    const { aws, nameOf } = stage.stack;
    const { source, detailType, detail } = requestOf("from-lambda-itself");
    const event = {
      version: "0",
      id: randomUUID(),
      account: AWS_ACCOUNT,
      source,
      "detail-type": detailType,
      time: new Date(Date.now()).toISOString(),
      region: REGION,
      resources: [],
      detail,
    };

    await aws.lambda.send(
      new InvokeCommand({
        FunctionName: nameOf("intake"),
        InvocationType: "Event",
        Payload: JSON.stringify(event),
      }),
    );

    await succeeded("from-lambda-itself");
  });

  test("uses a rotated API key without a deployment, and no command fails", async () => {
    const { service, stack, keyParameter } = stage;
    await stack.aws.ssm.send(
      new PutParameterCommand({ Name: keyParameter, Value: service.newApiKey, Overwrite: true }),
    );
    service.revoke(service.apiKey);

    await send("with-the-new-key");

    expect((await succeeded("with-the-new-key")).detail.data).toMatchObject({ lostReplies: 0 });
    expect(stage.events.all((event) => event["detail-type"] === "AccountKeyRefused")).toEqual([]);
  });

  test("rejects earlier ids after a rotation of the fingerprint key, and accepts new ones", async () => {
    const { stack } = stage;
    await send("under-the-old-key");
    await succeeded("under-the-old-key");
    await stack.aws.ssm.send(
      new PutParameterCommand({
        Name: `${stack.name.replace("skyhook-", "/skyhook/")}/fingerprint-key`,
        Value: randomUUID(),
        Overwrite: true,
      }),
    );

    await stack.deploy({});

    await send("under-the-old-key", "sent-again");
    const rejection = await stage.events.first(
      "the rejection of under-the-old-key",
      ({ detail: { data } }) => data.requestedCommandId === "under-the-old-key",
    );
    expect(rejection["detail-type"]).toBe("CommandRejected");
    expect(rejection.detail.data).toMatchObject({ reason: "id-reused" });
    await send("under-the-new-key");
    await succeeded("under-the-new-key");
  });

  test("is rolled back to the previous package", async () => {
    const { stack } = stage;
    const watchedTasks = async () => {
      const { Environment } = await stack.aws.lambda.send(
        new GetFunctionConfigurationCommand({ FunctionName: stack.nameOf("watch-ai-tasks") }),
      );
      return Environment?.Variables?.AI_TASK_NAME;
    };
    const first = /Timestamp: (\d+)/.exec(await stack.osls("deploy", "list"))?.[1];
    await stack.deploy({ aiTaskName: "transcription" });
    const changed = await watchedTasks();

    await stack.osls("rollback", `--timestamp=${first}`);

    expect([changed, await watchedTasks()]).toEqual(["transcription", ""]);
    await send("after-the-rollback");
    await succeeded("after-the-rollback");
  });

  test("is removed completely, with its ledger if that is deleted too", async () => {
    const { aws, name, nameOf } = stage.stack;
    await stage.close();

    await expect(
      aws.cloudFormation.send(new DescribeStacksCommand({ StackName: name })),
    ).rejects.toThrow(/does not exist/);
    await expect(
      aws.dynamoDb.send(new DescribeTableCommand({ TableName: nameOf("ledger") })),
    ).rejects.toThrow(ResourceNotFoundException);
  });
});
