import { describe, expect, test } from "vitest";
import type { PackagedService } from "../packaged-service.ts";
import { arn, type TemplateReader } from "../template-reader.ts";

const STATE = { "Fn::If": ["IsRunning", "ENABLED", "DISABLED"] };

/** The stack's parameter that stops everything. */
export const testKillSwitch = (
  { ofType }: TemplateReader,
  packaged: () => PackagedService,
): void => {
  describe("the kill switch", () => {
    test("is the stack's one parameter, yes unless the stage says otherwise", () => {
      expect(packaged().parameters).toEqual({
        Running: {
          Type: "String",
          Description: "no stops everything",
          AllowedValues: ["yes", "no"],
          Default: "yes",
        },
      });
      expect(packaged().conditions).toEqual({
        IsRunning: { "Fn::Equals": [{ Ref: "Running" }, "yes"] },
      });
    });

    test("stops every function from reading its queue, intake too", () => {
      const mappings = ofType("AWS::Lambda::EventSourceMapping");

      expect(mappings.map(([, { Properties }]) => Properties.FunctionName)).toEqual([
        arn("IntakeLambdaFunction"),
        arn("RunDashcommandsLambdaFunction"),
        arn("PollDashtasksLambdaFunction"),
      ]);
      for (const [id, { Properties }] of mappings) {
        expect(Properties.Enabled, id).toEqual({ "Fn::If": ["IsRunning", true, false] });
      }
    });

    test("stops every schedule", () => {
      for (const [id, { Properties }] of ofType("AWS::Scheduler::Schedule")) {
        expect(Properties.State, id).toEqual(STATE);
      }
    });

    test("stops every rule that calls a function; those that fill the queue of intake go on", () => {
      const callsAnother = JSON.stringify(arn("SyncDashthresholdsLambdaFunction"));
      const stopped = ofType("AWS::Events::Rule").filter(([, { Properties }]) => Properties.State);

      expect(stopped.map(([id, { Properties }]) => [id, Properties.State])).toEqual([
        ["ThresholdsWritten", STATE],
      ]);
      for (const [id, { Properties }] of ofType("AWS::Events::Rule")) {
        expect(JSON.stringify(Properties.Targets).includes(callsAnother), id).toBe(
          id === "ThresholdsWritten",
        );
      }
    });

    test("keeps Lambda from repeating a run that no queue has asked for, and needs nothing else for it", () => {
      const stopped = ofType("AWS::Lambda::Function").filter(([, { Properties }]) =>
        JSON.stringify(Properties.ReservedConcurrentExecutions ?? null).includes("IsRunning"),
      );

      expect(stopped.map(([id]) => id)).toEqual([
        "SyncDashthresholdsLambdaFunction",
        "SnapshotDashpricesLambdaFunction",
        "WatchDashaiDashtasksLambdaFunction",
      ]);
      for (const [id, { Properties }] of stopped) {
        expect(Properties.ReservedConcurrentExecutions, id).toEqual({
          "Fn::If": ["IsRunning", { Ref: "AWS::NoValue" }, 0],
        });
      }
    });
  });
};
