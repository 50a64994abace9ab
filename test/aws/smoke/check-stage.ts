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
  /** `skyhook-STAGE`. */
  readonly stackName: string;
  /** The AWS account that it is in. */
  readonly awsAccount: string;
  /** Of the stage. */
  readonly eventSource: string;
  /** Of the accounts file; may be left out where our own AWS account may use only one. */
  readonly account?: string | undefined;
  readonly projectId: number;
  readonly regionId: number;
}

const TEST_LIMIT_MS = 240_000;
/** A rule that was just made may miss what comes in its first minute. */
const ATTEMPTS = 8;
const ATTEMPT_MS = 20_000;

/** A dry run whose guard holds because there is no such address: the provider is asked for it. */
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
 * Whether a deployed stage works: by asking it for a command that changes nothing at the provider. Makes a
 * queue and a rule on the stage's bus, and takes them away again.
 */
export const checkStage = (stageOf: () => Promise<CheckedStage>): void => {
  test(
    "a command goes from an event to its end, and nothing is sent",
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
    "the poller comes to the end of a run",
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
