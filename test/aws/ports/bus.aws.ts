import { randomUUID } from "node:crypto";
import {
  CreateEventBusCommand,
  DeleteEventBusCommand,
  EventBridgeClient,
} from "@aws-sdk/client-eventbridge";
import {
  CreateAccessKeyCommand,
  CreateUserCommand,
  DeleteAccessKeyCommand,
  DeleteUserCommand,
  DeleteUserPolicyCommand,
  PutUserPolicyCommand,
} from "@aws-sdk/client-iam";
import { inject } from "vitest";
import * as z from "zod";
import { createEventbridgeBus } from "../../../lib/platform/aws/eventbridge-bus.ts";
import { type ArrivedEvent, describeBusContract } from "../../contract/ports/bus-contract.ts";
import { AWS_ACCOUNT, createAwsClients, REGION } from "../aws-clients.ts";
import { refusingLargeEvents } from "../emulator-defects.ts";
import { createTap, tapBus } from "../tap.ts";

const endpoint = inject("awsEndpoint");
const aws = createAwsClients(endpoint);
const { eventBridge, iam } = aws;

const arrivedSchema = z
  .object({ source: z.string(), "detail-type": z.string(), detail: z.unknown() })
  .transform(({ source, "detail-type": detailType, detail }) => ({ source, detailType, detail }));

/** A bus with a tap for all its events. */
const createBus = async (name: string) => {
  await eventBridge.send(new CreateEventBusCommand({ Name: name }));
  const tap = await createTap(aws, name);
  const untap = await tapBus(aws, tap, name, { source: ["skyhook"] });
  return {
    receive: async (): Promise<readonly ArrivedEvent[]> =>
      (await tap.receive()).map((event) => arrivedSchema.parse(event)),
    async remove() {
      await untap();
      await eventBridge.send(new DeleteEventBusCommand({ Name: name }));
      await tap.remove();
    },
  };
};

/** A principal that may publish on the bus until its permission is removed. */
const createPublisher = async (busName: string) => {
  const policy = { UserName: busName, PolicyName: "publish" };
  await iam.send(new CreateUserCommand({ UserName: busName }));
  const statement = {
    Effect: "Allow",
    Action: "events:PutEvents",
    Resource: `arn:aws:events:${REGION}:${AWS_ACCOUNT}:event-bus/${busName}`,
  };
  const PolicyDocument = JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
  await iam.send(new PutUserPolicyCommand({ ...policy, PolicyDocument }));
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName: busName }));
  const { AccessKeyId = "", SecretAccessKey = "" } = AccessKey ?? {};
  const credentials = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey };
  const forbid = async (): Promise<void> => {
    await iam.send(new DeleteUserPolicyCommand(policy));
  };
  return {
    client: new EventBridgeClient({ endpoint, region: REGION, credentials }),
    forbid,
    async remove() {
      await iam.send(new DeleteAccessKeyCommand({ UserName: busName, AccessKeyId }));
      await iam.send(new DeleteUserCommand({ UserName: busName }));
    },
  };
};

describeBusContract("EventBridge, on an emulator", async () => {
  const busName = `skyhook-test-${randomUUID()}`;
  const { receive, remove } = await createBus(busName);
  const publisher = await createPublisher(busName);
  const client = refusingLargeEvents(publisher.client);
  const arrived: ArrivedEvent[] = [];
  let isForbidden = false;
  return {
    bus: createEventbridgeBus({ client, busName, source: "skyhook" }),
    async arrived() {
      arrived.push(...(await receive()));
      return arrived;
    },
    async breakDown() {
      isForbidden = true;
      await publisher.forbid();
      return /is not authorized to perform: events:PutEvents/;
    },
    async remove() {
      if (!isForbidden) await publisher.forbid();
      await publisher.remove();
      await remove();
    },
  };
});
