import {
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { GetScheduleCommand, UpdateScheduleCommand } from "@aws-sdk/client-scheduler";
import { describe, expect, onTestFinished, test } from "vitest";
import { sendCommand, successOf } from "../../system/scenarios/stage.ts";
import { callSnapshotPrices, type DeployedStage } from "../deployed-stage.ts";
import { writeWatchlist } from "./watchlist.ts";

const CONTAINER = { project_id: 1234567, region_id: 76, container_name: "my-container" };
/** A little longer than two periods of the schedule. */
const TWO_TICKS_MS = 180_000;

const sendUpdate = (stage: DeployedStage, commandId: string) =>
  sendCommand(stage, commandId, {
    operation: "update-container",
    params: CONTAINER,
    body: { description: commandId },
  });

const stopWakes = async ({ stack }: DeployedStage): Promise<void> => {
  const { lambda } = stack.aws;
  const { EventSourceMappings = [] } = await lambda.send(
    new ListEventSourceMappingsCommand({ FunctionName: stack.nameOf("poll-tasks") }),
  );
  const [{ UUID } = {}] = EventSourceMappings;
  const enable = async (Enabled: boolean) => {
    await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled }));
  };
  onTestFinished(() => enable(true));
  await enable(false);
};

const stopPollSchedule = async ({ stack }: DeployedStage): Promise<void> => {
  const { scheduler } = stack.aws;
  const { $metadata, Arn, CreationDate, LastModificationDate, ...schedule } = await scheduler.send(
    new GetScheduleCommand({ GroupName: stack.name, Name: stack.nameOf("poll-tasks-tick") }),
  );
  const { GroupName, Name, ScheduleExpression, FlexibleTimeWindow, Target } = schedule;
  const set = async (State: "ENABLED" | "DISABLED") => {
    const changed = { GroupName, Name, ScheduleExpression, FlexibleTimeWindow, Target, State };
    await scheduler.send(new UpdateScheduleCommand(changed));
  };
  onTestFinished(() => set("ENABLED"));
  await set("DISABLED");
};

/** Tests of wake signals and schedules. */
export const testSchedules = (stageOf: () => DeployedStage): void => {
  describe("wake signals and schedules", () => {
    test("a command ends by wake signals alone", async () => {
      const stage = stageOf();
      await stopPollSchedule(stage);

      await sendUpdate(stage, "by-wakes");

      expect((await successOf(stage, "by-wakes")).detail.data.taskIds).toHaveLength(1);
    });

    test("a command ends without any wake signal", async () => {
      const stage = stageOf();
      await stopWakes(stage);

      await sendUpdate(stage, "without-wakes");

      expect((await successOf(stage, "without-wakes")).detail.data.taskIds).toHaveLength(1);
    });

    test("the end of an AI task is published", async () => {
      const ended = await stageOf().events.first(
        "the end of an AI task",
        (event) => event["detail-type"] === "AiTaskEnded",
        TWO_TICKS_MS,
      );

      // The first check publishes no event, so the schedule has fired at least twice.
      expect(["SUCCESS", "FAILURE"]).toContain(ended.detail.data.status);
    });
  });

  test("snapshot-prices captures the prices, invoked like by its hourly schedule", async () => {
    const stage = stageOf();
    await writeWatchlist(stage);

    expect(await callSnapshotPrices(stage.stack)).toBe("null");

    const captured = await stage.events.first(
      "the prices",
      (event) => event["detail-type"] === "PricesCaptured",
    );
    expect(captured.detail.data).toMatchObject({ items: 4, failed: 0 });
  });
};
