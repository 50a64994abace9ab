import { randomUUID } from "node:crypto";
import { PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { InvokeCommand } from "@aws-sdk/client-lambda";
import { expect, test } from "vitest";
import type { EventLog } from "../../system/scenarios/stage.ts";
import type { AwsClients } from "../aws-clients.ts";
import { readTap } from "../event-tap.ts";
import { createTap, tapBus } from "../tap.ts";

export interface CheckedStage {
  readonly aws: Pick<AwsClients, "eventBridge" | "lambda" | "sqs">;
  /** Name of the CloudFormation stack: `skyhook-STAGE`. */
  readonly stackName: string;
  /** AWS account of the stage. */
  readonly awsAccount: string;
  /** Stage parameter `eventSource`. */
  readonly eventSource: string;
  /** Account of the accounts file. Optional if the AWS account of the stage may use only one. */
  readonly account?: string | undefined;
  readonly projectId: number;
  readonly regionId: number;
}

const TEST_LIMIT_MS = 240_000;
/** A new rule may miss events of its first minute. */
const ATTEMPTS = 8;
const ATTEMPT_MS = 20_000;

/** A dry run with a guard that reads the tag of a floating IP that does not exist, so the guard holds. */
const requestOf = ({ account, projectId, regionId }: CheckedStage, commandId: string) => {
  const place = { project_id: projectId, region_id: regionId };
  const guard = {
    floating_ip: { ...place, floating_ip_id: randomUUID() },
    key: "skyhook-smoke-test",
    absent: true,
  };
  return {
    metadata: { commandId },
    data: {
      operation: "update-policy",
      ...(account !== undefined && { account }),
      params: { ...place, policy_id: 1 },
      body: { name: "skyhook-smoke-test" },
      guards: [guard],
      dryRun: true,
    },
  };
};

const askOnce = async (stage: CheckedStage, busName: string, events: EventLog) => {
  const commandId = `smoke-test-${randomUUID()}`;
  const entry = {
    EventBusName: busName,
    Source: "skyhook-smoke-test",
    DetailType: "CommandRequested",
    Detail: JSON.stringify(requestOf(stage, commandId)),
  };
  await stage.aws.eventBridge.send(new PutEventsCommand({ Entries: [entry] }));
  return events.first(
    `the end of ${commandId}`,
    ({ "detail-type": type, detail }) =>
      detail.metadata.commandId === commandId && type !== "CommandAccepted",
  );
};

/**
 * Tests a deployed stage with a command that changes nothing at the provider. Creates a queue and a rule on the bus
 * of the stage, and removes both.
 */
export const checkStage = (stageOf: () => Promise<CheckedStage>): void => {
  test(
    "a command runs from its event to its end, and sends no change",
    async () => {
      const stage = await stageOf();
      const { aws, awsAccount, eventSource: source } = stage;
      const busName = `${stage.stackName}-events`;
      const tap = await createTap(aws, `${stage.stackName}-smoke-test`);
      const pattern = { source: [source], account: [awsAccount] };
      const untap = await tapBus(aws, tap, busName, pattern);
      const { events, stop } = readTap(tap, ATTEMPT_MS);
      try {
        let attempt = askOnce(stage, busName, events);
        for (let again = 1; again < ATTEMPTS; again += 1) {
          attempt = attempt.catch(() => askOnce(stage, busName, events));
        }
        const end = await attempt;

        expect(end["detail-type"], JSON.stringify(end.detail.data)).toBe("CommandSucceeded");
        expect(end.detail.data).toMatchObject({ outcome: "dry-run", attempts: 0 });
      } finally {
        await untap();
        await stop();
        await tap.remove();
      }
    },
    TEST_LIMIT_MS,
  );

  test(
    "the poller finishes a run",
    async () => {
      const { aws, stackName } = await stageOf();
      const { Payload } = await aws.lambda.send(
        new InvokeCommand({ FunctionName: `${stackName}-poll-tasks`, Payload: "{}" }),
      );

      expect(Payload?.transformToString()).toBe("null");
    },
    TEST_LIMIT_MS,
  );
};
