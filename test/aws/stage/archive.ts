import { DescribeArchiveCommand, TestEventPatternCommand } from "@aws-sdk/client-eventbridge";
import { describe, expect, test } from "vitest";
import { AWS_ACCOUNT, REGION } from "../aws-clients.ts";
import type { DeployedStage } from "../deployed-stage.ts";

const event = (account: string, source: string) =>
  JSON.stringify({
    version: "0",
    id: "e1",
    account,
    source,
    "detail-type": "CommandRequested",
    time: "2026-11-22T00:00:00Z",
    region: REGION,
    resources: [],
    detail: {},
  });

/** Tests the archive of outgoing events. Run it after other tests have published some. */
export const testArchive = (stageOf: () => DeployedStage): void => {
  describe("the archive", () => {
    test("holds the published events", async () => {
      const { stack, events } = stageOf();
      const { EventCount } = await stack.aws.eventBridge.send(
        new DescribeArchiveCommand({ ArchiveName: stack.nameOf("outgoing") }),
      );

      expect(EventCount).toBeGreaterThanOrEqual(events.all(() => true).length);
    });

    test.each([
      { what: "our own event", account: AWS_ACCOUNT, source: "skyhook", isKept: true },
      { what: "a request", account: AWS_ACCOUNT, source: "billing", isKept: false },
      {
        what: "an event of another AWS account with our source",
        account: "999999999999",
        source: "skyhook",
        isKept: false,
      },
    ])("keeps $what: $isKept", async ({ account, source, isKept }) => {
      const { stack } = stageOf();
      const { eventBridge } = stack.aws;
      const { EventPattern } = await eventBridge.send(
        new DescribeArchiveCommand({ ArchiveName: stack.nameOf("outgoing") }),
      );

      const { Result } = await eventBridge.send(
        new TestEventPatternCommand({ EventPattern, Event: event(account, source) }),
      );

      expect(Result).toBe(isKept);
    });
  });
};
