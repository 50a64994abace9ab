import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { commandOf } from "../../support/commands.ts";
import { runSkyhook } from "../../support/skyhook-process.ts";
import { openTableServer, type TableServer } from "../../support/table-server.ts";

const MINUTE_MS = 60_000;
/** Lead of the operator's clock over AWS's clock. */
const AHEAD_MS = 60 * MINUTE_MS;

let table: TableServer;
let client: DynamoDBClient;
let ledger: Ledger;
let environment: Record<string, string>;

const forward = (asked: IncomingMessage, answer: ServerResponse): void => {
  const { method, headers, url = "/" } = asked;
  const onward = request(new URL(url, String(table.clientConfig.endpoint)), { method, headers });
  onward.on("response", (answered) => {
    const date = new Date(Date.now() - AHEAD_MS).toUTCString();
    answer.writeHead(answered.statusCode ?? 500, { ...answered.headers, date });
    answered.pipe(answer);
  });
  asked.pipe(onward);
};
/** AWS as seen by a machine with a fast clock. */
const aws = createServer(forward);

const put = async (id: string, fields: Partial<Command>): Promise<void> => {
  const command = commandOf({ sender: "1", id, deadline: Date.now() + AHEAD_MS, ...fields });
  await commands.write(ledger, commandKey(command), undefined, command);
};
const cancel = (id: string) =>
  runSkyhook(
    ["cancel", id, "--stage", "test", "--sender", "1", "--wait-seconds", "0"],
    environment,
  );

beforeAll(async () => {
  const tableName = "skyhook-test-ledger";
  table = await openTableServer(tableName);
  client = new DynamoDBClient(table.clientConfig);
  ledger = createDynamodbLedger({ client, tableName });
  await new Promise<void>((resolve) => aws.listen(0, "127.0.0.1", resolve));
  environment = {
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(aws.address() as AddressInfo).port}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
});

afterAll(async () => {
  client.destroy();
  aws.close();
  await table.close();
});

describe("an operator's clock that is an hour ahead", () => {
  it.concurrent("does not break the lease of a request in flight", async () => {
    const until = Date.now() - 10 * MINUTE_MS;
    const state = { status: "running", lease: { by: "f", until }, notBefore: 0, lookAt: until };
    await put("sending", { state, attempts: [{ startedAt: 1 }], attemptCount: 1 } as Command);

    const ended = await cancel("sending");

    expect(ended).toMatchObject({ exitCode: 4, stdout: "" });
    expect((await commands.read(ledger, "1/sending"))?.value.state).toEqual(state);
  });

  it.concurrent("ends a command at AWS's time", async () => {
    await put("waiting", { state: { status: "waiting" } });

    await cancel("waiting");

    const state = (await commands.read(ledger, "1/waiting"))?.value.state;
    expect(state).toMatchObject({ status: "cancelled", settled: false });
    const agoMs = Date.now() - (state && "endedAt" in state ? state.endedAt : 0);
    expect(agoMs).toBeGreaterThan(AHEAD_MS - MINUTE_MS);
    expect(agoMs).toBeLessThan(AHEAD_MS + MINUTE_MS);
  });
});
