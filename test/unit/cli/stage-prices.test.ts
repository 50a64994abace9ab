import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  priceItemKey,
  priceItems,
  priceNames,
  priceReadingKey,
  priceReadings,
  type StoredReading,
} from "../../../lib/jobs/prices/price.ts";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import { runVerb } from "../../support/in-process-verb.ts";
import { openTableServer, type TableServer } from "../../support/table-server.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const AT = Date.UTC(2026, 0, 1);

let table: TableServer;
let lambda: Server;
let environment: Record<string, string>;

const prices = (...args: readonly string[]) =>
  runVerb(["prices", ...args, "--stage", "test"], environment);

const readingOf = (number: number, perMonth: string): StoredReading => ({
  ...{ number, kind: "instance", fingerprint: "f" },
  reading: { status: "show", currency: "EUR", amounts: { "total.per_month": perMonth } },
  readAt: AT + number * DAY_MS,
  lastSeenAt: AT + number * DAY_MS,
});

beforeAll(async () => {
  table = await openTableServer("skyhook-test-ledger");
  const client = new DynamoDBClient(table.clientConfig);
  const ledger = createDynamodbLedger({ client, tableName: "skyhook-test-ledger" });
  const before = readingOf(1, "48.204");
  await priceNames.write(ledger, "main", undefined, { names: ["web"] });
  await priceReadings.write(ledger, priceReadingKey("main", "web", 1), undefined, before);
  await priceItems.write(ledger, priceItemKey("main", "web"), undefined, {
    ...{ account: "main", name: "web", kind: "instance", fingerprint: "f", outbox: [] },
    latest: readingOf(2, "51.084"),
    lastRun: { bucket: "2026-01-03T00:00:00.000Z", outcome: "changed" },
  });
  client.destroy();
  lambda = createServer((_request, response) => {
    const Variables = { JOB_ACCOUNT: "main", CONFIG_BUCKET: "bucket", CONFIG_KEY: "key" };
    response.end(JSON.stringify({ Environment: { Variables } }));
  });
  lambda.listen(0, "127.0.0.1");
  await once(lambda, "listening");
  environment = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(lambda.address() as AddressInfo).port}`,
    ...table.environment,
  };
});

afterAll(async () => {
  lambda.close();
  await table.close();
});

describe("skyhook prices of a stage", () => {
  it.concurrent("lists the items of the stage's account", async () => {
    const ended = await prices("list", "--json");

    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(ended.stdout)).toMatchObject([
      { name: "web", latest: { number: 2, total: { per_month: "51.084" } } },
    ]);
  });

  it.concurrent("shows every reading of an item", async () => {
    const ended = await prices("history", "web", "--csv");

    expect(ended.stdout.split("\r\n").map((line) => line.split(",").at(-1))).toEqual([
      "per_month",
      "51.084",
      "48.204",
      "",
    ]);
  });

  it.concurrent("shows the changes since a day", async () => {
    const ended = await prices("changes", "--since", "2026-01-01", "--json");

    expect(JSON.parse(ended.stdout)).toMatchObject([{ name: "web", percent: "5.97" }]);
  });

  it.concurrent("refuses an unknown item", async () => {
    expect(await prices("history", "mail")).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringMatching(/^no prices of mail: /),
    });
  });
});
