import { expect, test } from "vitest";
import { changesText, type ResourceChange } from "../../../../lib/cli/stage/change-set.ts";

const change = (fields: Partial<ResourceChange>): ResourceChange => ({
  action: "change",
  type: "AWS::Lambda::Function",
  logicalId: "IntakeLambdaFunction",
  properties: [],
  isKept: false,
  ...fields,
});

test("a change set is shown with its dangerous changes last, and those that delete data marked", () => {
  const text = changesText(
    [
      change({ action: "remove", type: "AWS::SQS::Queue", logicalId: "OldQueue" }),
      change({
        action: "replace",
        type: "AWS::DynamoDB::Table",
        logicalId: "LedgerTable",
        properties: ["KeySchema"],
        isKept: true,
      }),
      change({
        action: "may-replace",
        type: "AWS::Logs::LogGroup",
        logicalId: "IntakeLogGroup",
        properties: ["LogGroupName"],
      }),
      change({ properties: ["Code", "Tags"] }),
      change({ action: "add", type: "AWS::CloudWatch::Alarm", logicalId: "One" }),
      change({ action: "add", type: "AWS::CloudWatch::Alarm", logicalId: "Two" }),
      change({ action: "add", type: "AWS::SQS::Queue", logicalId: "NewQueue" }),
    ],
    undefined,
  );

  expect(text.split("\n").map((line) => line.replaceAll(/ {2,}/g, " | "))).toEqual([
    "CHANGE | TYPE | RESOURCE",
    "+ add | CloudWatch::Alarm | 2 of them",
    "+ add | SQS::Queue | NewQueue",
    "~ change | Lambda::Function | IntakeLambdaFunction: Code, Tags",
    "! may replace | Logs::LogGroup | IntakeLogGroup: DELETES ITS DATA; LogGroupName",
    "! replace | DynamoDB::Table | LedgerTable: the old one stays, outside of the stack; KeySchema",
    "- remove | SQS::Queue | OldQueue: DELETES ITS DATA",
    "3 to add, 1 to change, 1 perhaps to replace, 1 to replace, 1 to remove, 2 of them would DELETE DATA",
  ]);
});

test("a removed resource without data is not marked", () => {
  const text = changesText([change({ action: "remove" })], undefined);

  expect(text).not.toContain("DATA");
});
