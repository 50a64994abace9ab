import {
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { describe, expect, test } from "vitest";
import { sendCommand } from "../../scenarios/asking.ts";
import { callSnapshotPrices, type DeployedStage } from "../deployed-stage.ts";
import { writeWatchlist } from "./watchlist.ts";

const CONTAINER = { project_id: 1234567, region_id: 76, container_name: "my-container" };

/** What calls functions without anybody asking for it. */
export const testSchedules = (stageOf: () => DeployedStage): void => {
  describe("the schedules", () => {
    test("finish a command although no wake arrives", async () => {
      const stage = stageOf();
      const { lambda } = stage.stack.aws;
      const FunctionName = stage.stack.nameOf("poll-tasks");
      const { EventSourceMappings = [] } = await lambda.send(
        new ListEventSourceMappingsCommand({ FunctionName }),
      );
      const [{ UUID } = {}] = EventSourceMappings;
      await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: false }));

      await sendCommand(stage, "without-wakes", {
        operation: "update-container",
        params: CONTAINER,
        body: { description: "without wakes" },
      });

      const end = await stage.events.first(
        "the end of a command that only the schedule follows",
        ({ "detail-type": type, detail }) =>
          type === "CommandSucceeded" && detail.metadata.commandId === "without-wakes",
      );
      expect(end.detail.data.taskIds).toHaveLength(1);
      await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: true }));
    });

    test("tell of the end of an AI task", async () => {
      const ended = await stageOf().events.first(
        "the end of an AI task",
        (event) => event["detail-type"] === "AiTaskEnded",
      );

      // The first look tells of nothing, so at least two have come.
      expect(["SUCCESS", "FAILURE"]).toContain(ended.detail.data.status);
    });

    test("call a function that prices what the watchlist has", async () => {
      const stage = stageOf();
      await writeWatchlist(stage);

      expect(await callSnapshotPrices(stage.stack)).toBe("null");

      const captured = await stage.events.first(
        "the prices",
        (event) => event["detail-type"] === "PricesCaptured",
      );
      expect(captured.detail.data).toMatchObject({ items: 4, failed: 0 });
    });
  });
};
