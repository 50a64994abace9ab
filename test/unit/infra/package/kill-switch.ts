import { describe, expect, test } from "vitest";
import type { PackagedService } from "../packaged-service.ts";
import { arn, type TemplateReader } from "../template-reader.ts";

const STATE = { "Fn::If": ["IsRunning", "ENABLED", "DISABLED"] };

/** The stack parameter that stops every function. */
export const testKillSwitch = (
  { ofType }: TemplateReader,
  packaged: () => PackagedService,
): void => {
  describe("the kill switch", () => {
    test("is the only stack parameter, with the default yes", () => {
      expect(packaged().parameters).toEqual({
        Running: {
          Type: "String",
          Description: "no stops every function of the stage",
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

    test("stops every rule that invokes a function, and no rule that fills the queue of intake", () => {
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

    test("stops Lambda's retries of functions without a queue, by concurrency alone", () => {
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
