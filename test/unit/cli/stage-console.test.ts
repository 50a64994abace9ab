import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import {
  PRICE_KINDS,
  PRICE_OUTCOMES,
  priceItemKey,
  priceItems,
  priceNames,
} from "../../../lib/jobs/prices/price.ts";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { commandOf } from "../../support/commands.ts";
import { jsonHeaders } from "../../support/local-console.ts";
import { type SkyhookProcess, startSkyhook } from "../../support/skyhook-process.ts";
import { openTableServer, type TableServer } from "../../support/table-server.ts";

/** The AWS account of dynalite's tables. */
const OWN = "000000000000";
const LATER = Date.UTC(2100, 0, 1);

/** Environment of the functions of jobs. */
const JOB_SETTINGS = {
  JOB_ACCOUNT: "main",
  CONFIG_BUCKET: "bucket",
  CONFIG_KEY: "thresholds.yaml",
};

let table: TableServer;
let client: DynamoDBClient;
let ledger: Ledger;
let aws: Server;
/** Requests to EventBridge. */
let put: unknown[];
let environment: Record<string, string>;
let console: SkyhookProcess;

/** EventBridge and Lambda, as far as the console calls them. */
const startAws = async (): Promise<Server> => {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    response.setHeader("content-type", "application/x-amz-json-1.1");
    if (request.headers["x-amz-target"] === "AWSEvents.PutEvents") {
      put.push(JSON.parse(body));
      response.end('{"FailedEntryCount":0,"Entries":[{"EventId":"e1"}]}');
    } else if (request.url?.includes("skyhook-test-sync-thresholds")) {
      response.end(JSON.stringify({ Environment: { Variables: JOB_SETTINGS } }));
    } else if (request.url?.includes("thresholds.yaml")) {
      response.end("thresholds: []\n");
    } else {
      response.statusCode = 400;
      response.end('{"__type":"UnrecognizedClientException","message":"no such service"}');
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
};

const addressOf = (server: Server): string => {
  const address = server.address();
  return typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "none";
};

const write = (id: string, fields: Partial<Command> = {}) => {
  const command = commandOf({ sender: OWN, id, deadline: LATER, ...fields });
  return commands.write(ledger, commandKey(command), undefined, command);
};

/** Starts the console, and returns how to ask it. */
const startConsole = async (...flags: readonly string[]) => {
  console = startSkyhook(["console", "--stage", "test", "--port", "0", ...flags], environment);
  await console.printed("End: Ctrl-C");
  const url = new URL(/http:\S+/.exec(console.stdout())?.[0] ?? "");
  const headers = jsonHeaders(url.searchParams.get("token") ?? "");
  const ask = async (path: string, body?: unknown) => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(`${url.origin}${path}`, { headers, ...sent });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  return { ask, url };
};

beforeAll(async () => {
  table = await openTableServer("skyhook-test-ledger");
  client = new DynamoDBClient(table.clientConfig);
  ledger = createDynamodbLedger({ client, tableName: "skyhook-test-ledger" });
  aws = await startAws();
  environment = {
    AWS_ENDPOINT_URL: addressOf(aws),
    AWS_ENDPOINT_URL_DYNAMODB: String(table.clientConfig.endpoint),
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
});
beforeEach(() => {
  put = [];
});
afterEach(async () => {
  console.child.kill("SIGTERM");
  expect(await console.ended()).toBe(0);
});
afterAll(async () => {
  client.destroy();
  await table.close();
  aws.close();
});

const CANCEL = "/commands/c1/cancel";
const UPDATE = {
  operation: "update-policy",
  account: "main",
  params: { project_id: 1, region_id: 2, policy_id: 3 },
  body: { name: "nightly" },
};

describe("the console of a deployed stage", () => {
  it("shows the commands of the ledger, and changes nothing without --allow-changes", async () => {
    await write("c1", { acceptedAt: Date.now() - 1_000, state: { status: "waiting" } });
    const { ask, url } = await startConsole();

    expect(url.hostname).toBe("127.0.0.1");
    expect((await ask("/session")).body).toMatchObject({
      ...{ kind: "stage", name: "test", sender: OWN, allowsChanges: false },
    });
    expect((await ask("/commands")).body.rows).toMatchObject([{ id: "c1", status: "waiting" }]);
    expect((await ask("/commands/c1")).body).toMatchObject({ kind: "command", sender: OWN });
    expect((await ask("/open")).body).toMatchObject({ commands: 1 });
    const changes = [CANCEL, "/commands", "/commands/c1/resolve", "/accounts/main/lift-pause"];
    for (const path of [...changes, "/jobs/snapshot-prices/run", "/dead-letters/redrive"]) {
      expect(await ask(path, { data: UPDATE })).toEqual({
        status: 403,
        body: { error: "this console is read-only; start it again with --allow-changes" },
      });
    }
    expect((await commands.read(ledger, `${OWN}/c1`))?.version).toBe(1);
    expect(put).toEqual([]);
  });

  it("cancels a command with --allow-changes", async () => {
    await write("unwanted");
    const { ask } = await startConsole("--allow-changes");

    const cancelled = await ask("/commands/unwanted/cancel", {});

    expect(cancelled).toMatchObject({ status: 202, body: { kind: "stopped" } });
    expect((await commands.read(ledger, `${OWN}/unwanted`))?.value.state.status).toBe("cancelled");
  });

  it("sends a command by one event with an id, and refuses an invalid one", async () => {
    const { ask } = await startConsole("--allow-changes");

    const sent = await ask("/commands", { metadata: { commandId: "new" }, data: UPDATE });
    const wrong = { metadata: {}, data: { ...UPDATE, params: {} } };
    const invalid = await ask("/commands", wrong);
    const checked = await ask("/commands/check", wrong);

    expect(sent).toMatchObject({ status: 202, body: { commandId: "new" } });
    expect(put).toMatchObject([
      {
        Entries: [
          {
            EventBusName: "skyhook-test-events",
            Source: "skyhook-console",
            DetailType: "CommandRequested",
          },
        ],
      },
    ]);
    const [
      {
        Entries: [entry],
      },
    ] = put as [{ Entries: [{ Detail: string }] }];
    expect(JSON.parse(entry.Detail)).toEqual({
      metadata: { id: sent.body.eventId, commandId: "new" },
      data: UPDATE,
    });
    expect(invalid.status).toBe(400);
    expect(invalid.body.error).toContain("params.policy_id");
    expect(checked.body.problems).toContainEqual({ path: "params.policy_id", rule: "required" });
  });

  it("shows what the jobs of the stage have recorded, and its thresholds file", async () => {
    await priceNames.write(ledger, "main", undefined, { names: ["web"] });
    await priceItems.write(ledger, priceItemKey("main", "web"), undefined, {
      ...{ account: "main", name: "web", kind: PRICE_KINDS[0], fingerprint: "f", outbox: [] },
      lastRun: { bucket: "2026-01-01T00:00:00.000Z", outcome: PRICE_OUTCOMES[0] },
    });
    const { ask } = await startConsole();

    expect((await ask("/prices")).body).toMatchObject([{ name: "web" }]);
    expect((await ask("/thresholds")).body).toMatchObject({
      ...{ account: "main", config: { kind: "valid", source: "s3://bucket/thresholds.yaml" } },
    });
    expect((await ask("/ai-tasks")).body).toMatchObject({ account: "main", open: [] });
  });

  it("explains an AWS error on the page", async () => {
    const { ask } = await startConsole();

    expect(await ask("/dead-letters")).toEqual({
      status: 502,
      body: { error: "AWS refuses the request: no such service" },
    });
  });

  it("counts the read units that its pages consume", async () => {
    const acceptedAt = Date.now() - 1_000;
    const ids = Array.from({ length: 50 }, (_, index) => `listed-${index}`);
    for (const id of ids) await write(id, { acceptedAt, sender: "111122223333" });
    const { ask } = await startConsole();
    const readUnits = async (): Promise<number> => (await ask("/session")).body.readUnits;
    const unitsOf = async (path: string): Promise<number> => {
      const before = await readUnits();
      await ask(path);
      return (await readUnits()) - before;
    };

    expect(await unitsOf("/session")).toBe(0);
    // A unit for each of the 50 items, and half a unit for each 4 kB of the day's 4 partitions.
    const list = await unitsOf("/commands");
    expect(list).toBeGreaterThanOrEqual(52);
    expect(list).toBeLessThanOrEqual(56);
    const one = await unitsOf("/commands/listed-0?sender=111122223333");
    expect(one).toBeGreaterThanOrEqual(2);
    expect(one).toBeLessThanOrEqual(5);
  });
});
