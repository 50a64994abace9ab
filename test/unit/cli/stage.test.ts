import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import { recordRejection } from "../../../lib/engine/rejection.ts";
import { createDynamodbLedger, LEDGER_TABLE } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { newRateLimit, pauseRequests, rateLimits } from "../../../lib/provider/rate-limit.ts";
import { commandOf } from "../../support/commands.ts";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook } from "../../support/skyhook-process.ts";
import { openTableServer, type TableServer } from "../../support/table-server.ts";

let table: TableServer;
let client: DynamoDBClient;
let ledger: Ledger;
let environment: Record<string, string>;

/** The AWS account of dynalite's tables. */
const OWN = "000000000000";
const LATER = Date.UTC(2100, 0, 1);

const skyhook = (...args: readonly string[]) => runVerb(args, environment);
const put = (id: string, fields: Partial<Command> = {}) => {
  const command = commandOf({ sender: OWN, id, deadline: LATER, ...fields });
  return commands.write(ledger, commandKey(command), undefined, command);
};
const stored = async (id: string, sender = OWN) =>
  (await commands.read(ledger, commandKey({ sender, id })))?.value;

const unknownEnd: Command["state"] = {
  status: "failed",
  endedAt: 5_000,
  settled: true,
  reason: "unknown-outcome",
  tasks: [],
};

beforeAll(async () => {
  const tableName = "skyhook-test-ledger";
  table = await openTableServer(tableName);
  client = new DynamoDBClient(table.clientConfig);
  ledger = createDynamodbLedger({ client, tableName });
  // A stage overrides the environment.
  environment = { ...table.environment, SKYHOOK_ENDPOINT: "http://127.0.0.1:1" };
});

afterAll(async () => {
  client.destroy();
  await table.close();
});

describe("a deployed stage", () => {
  it.concurrent("shows the status of a command of its own AWS account", async () => {
    await put("waits", { state: { status: "waiting" } });

    const ended = await runSkyhook(["status", "waits", "--stage", "test"], environment);

    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(ended.stdout).toMatch(/^update-container waits waiting\n/);
    expect(ended.stdout).toMatch(/\n {2}next: npx skyhook cancel waits --stage test\n$/);
  });

  it.concurrent("lists commands by status, one JSON object per line", async () => {
    const acceptedAt = Date.now() - 1_000;
    const sender = "222233334444";
    await put("older", { sender, acceptedAt, state: unknownEnd });
    await put("newer", { sender, acceptedAt: acceptedAt + 1, state: unknownEnd });
    await put("running", { sender, acceptedAt, state: { status: "waiting" } });

    const ended = await skyhook(
      ...["list", "--stage", "test", "--sender", sender, "--status", "unknown-outcome", "--json"],
    );

    const rows = ended.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows).toMatchObject([
      { id: "newer", status: "failed", reason: "unknown-outcome" },
      { id: "older", status: "failed", reason: "unknown-outcome" },
    ]);
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it.concurrent("adds commands of an older version to the list, once", async () => {
    const tableName = "skyhook-backfilled-ledger";
    await client.send(new CreateTableCommand({ ...LEDGER_TABLE, TableName: tableName }));
    const backfilled = createDynamodbLedger({ client, tableName });
    const key = `command#${OWN}/old`;
    const value = JSON.parse(JSON.stringify(commandOf({ sender: OWN, id: "old" })));
    await expect
      .poll(() => backfilled.write({ key, version: 1, value }).catch(() => "creating"))
      .toBe("written");
    const backfill = (...args: string[]) =>
      skyhook("backfill-list", "--stage", "backfilled", ...args);

    const first = await backfill();
    const second = await backfill("--json");

    expect(first).toMatchObject({ exitCode: 0, stderr: "" });
    expect(first.stdout).toMatch(
      /^examined 1 ledger item, added 1 to the list; consumed [\d.]+ read units and [1-9][\d.]* write units\n$/,
    );
    expect(JSON.parse(second.stdout)).toMatchObject({ examined: 1, added: 0, writeUnits: 0 });
    expect((await backfilled.read(key))?.listing).toMatchObject({ sender: OWN });
  });

  it.concurrent.each([
    [["--units-per-second", "0"], "--units-per-second: must be a whole number from 1 to 999999\n"],
    [["--cursor", "x"], "--cursor: must be the cursor that a backfill printed\n"],
  ])("refuses %j for a backfill", async (args, stderr) => {
    expect(await skyhook("backfill-list", "--stage", "test", ...args)).toEqual({
      ...{ exitCode: 2, stdout: "", stderr },
    });
  });

  it.concurrent("names the index that the table of an older version lacks", async () => {
    const TableName = "skyhook-older-ledger";
    const [due] = LEDGER_TABLE.GlobalSecondaryIndexes ?? [];
    await client.send(
      new CreateTableCommand({
        ...{ ...LEDGER_TABLE, TableName, GlobalSecondaryIndexes: due && [due] },
        AttributeDefinitions: LEDGER_TABLE.AttributeDefinitions?.slice(0, 3),
      }),
    );

    const list = () => skyhook("list", "--stage", "older");

    await expect
      .poll(async () => (await list()).stderr, { timeout: 20_000 })
      .toBe(
        "the table skyhook-older-ledger has no complete index list; deploy this version of Skyhook, or try again in a few minutes if it is deployed\n",
      );
    expect((await list()).exitCode).toBe(2);
  });

  it.concurrent("shows another AWS account's command, as JSON too", async () => {
    await put("theirs", { sender: "111122223333", state: { status: "waiting" } });

    const ended = await skyhook(
      ...["status", "theirs", "--stage", "test", "--sender", "111122223333", "--json"],
    );

    expect(JSON.parse(ended.stdout)).toMatchObject({
      commandId: "theirs",
      sender: "111122223333",
      history: [],
      personCan: ["cancel"],
    });
  });

  it.concurrent("cancels a command in one write, and leaves the event and the lane to its poller", async () => {
    const before = await put("unwanted");

    const ended = await skyhook("cancel", "unwanted", "--stage", "test");

    expect(ended).toEqual({
      exitCode: 0,
      stdout: "unwanted is cancelled; it had no effect\n",
      stderr: "the poller publishes its event within a minute and releases its lane\n",
    });
    const { state, outbox } = (await stored("unwanted")) ?? {};
    expect(state).toMatchObject({ status: "cancelled", reason: "requested", settled: false });
    expect(outbox).toEqual(["CommandCancelled"]);
    const item = await ledger.read(`command#${OWN}/unwanted`);
    expect(item?.version).toBe((before?.version ?? 0) + 1);
    expect(item?.dueAt).toBeLessThan(Date.now() + 6_000);
  });

  it.concurrent("records the operator's resolution, and leaves its event to its poller", async () => {
    const { request: _, ...ended } = commandOf({ sender: OWN, id: "unknown" });
    await commands.write(ledger, `${OWN}/unknown`, undefined, { ...ended, state: unknownEnd });

    const resolved = await skyhook("resolve", "unknown", "--not-applied", "--stage", "test");

    expect(resolved).toEqual({
      exitCode: 0,
      stdout: "unknown is resolved: it did not take effect\n",
      stderr: "the poller publishes its event within a minute\n",
    });
    expect(await stored("unknown")).toMatchObject({
      resolution: { applied: false },
      outbox: ["CommandResolved"],
      state: { ...unknownEnd, settled: false },
    });
  });

  it.concurrent("shows rejections under a command's id, and under a separate id", async () => {
    await put("taken");
    const rejection = {
      ...{ digest: "d", operation: "resume-instance", reason: "id-reused" },
      problems: [{ path: "metadata.commandId", rule: "belongs to a command" }],
      ...{ problemCount: 1, rejectedAt: Date.UTC(2026, 0, 1) },
    };
    await recordRejection(ledger, OWN, { ...rejection, commandId: "taken", eventId: "e1" });
    await recordRejection(ledger, OWN, { ...rejection, digest: "d2", commandId: "unmade" });

    const taken = await skyhook("status", "taken", "--stage", "test");
    const unmade = await skyhook("status", "unmade", "--stage", "test", "--json");

    expect(taken.stdout).toContain(
      "\n  another request with this id was rejected at 2026-01-01T00:00:00.000Z (id-reused), event e1\n    metadata.commandId: belongs to a command\n",
    );
    expect(taken.exitCode).toBe(0);
    expect(JSON.parse(unmade.stdout)).toMatchObject({ kind: "rejected", reason: "id-reused" });
    expect(unmade.exitCode).toBe(2);
  });

  it.concurrent("shows that an account is paused, and lifts the pause", async () => {
    const until = Date.UTC(2100, 0, 1);
    await rateLimits.change(ledger, "slow", (rateLimit = newRateLimit("slow")) =>
      pauseRequests(rateLimit, { now: Date.now(), until }),
    );
    const times = { notBefore: until, lookAt: until };
    const waiting = { status: "running" as const, ...times, because: "paused" };
    await put("held", { account: "slow", state: waiting, sender: "111122223333" });

    const about = ["--stage", "test", "--sender", "111122223333"];
    const before = await skyhook("status", "held", ...about);
    const lifted = await skyhook("lift-pause", "slow", "--stage", "test", "--json");

    expect(before.stdout).toContain(
      "\n  account slow paused by the provider until 2100-01-01T00:00:00.000Z\n  to end the pause: npx skyhook lift-pause slow --stage test\n",
    );
    expect(JSON.parse(lifted.stdout)).toMatchObject({ account: "slow", kind: "lifted" });
    expect(lifted.stderr).toBe("the poller continues its commands within a minute\n");
    expect((await rateLimits.read(ledger, "slow"))?.value.blockedUntil).toBe(0);
  });

  it.concurrent("refuses an unknown command", async () => {
    expect(await skyhook("cancel", "none", "--stage", "test")).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        "no command none found: it was never sent, is still queued, or was rejected; check the id and --sender\n",
    });
  });
});

describe("an unreachable stage", () => {
  it.concurrent.each([
    [
      "is not there",
      { name: "tset", settings: {} },
      "no table skyhook-tset-ledger in this AWS account and region; check --stage and AWS_REGION\n",
      2,
    ],
    [
      "cannot be called so",
      { name: "a/b", settings: {} },
      "--stage: must be the name of a deployed stage, such as prod\n",
      2,
    ],
    [
      "has no region",
      { name: "test", settings: { AWS_REGION: "" } },
      "no AWS region: set AWS_REGION to the region of the stage\n",
      2,
    ],
    [
      "has no credentials",
      {
        name: "test",
        settings: { AWS_ACCESS_KEY_ID: "", AWS_EC2_METADATA_DISABLED: "true" },
      },
      "no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\n",
      2,
    ],
    [
      "does not answer",
      { name: "test", settings: { AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:1" } },
      "AWS does not answer (connect ECONNREFUSED 127.0.0.1:1); check the network, AWS_REGION, and AWS_ENDPOINT_URL if it is set\n",
      3,
    ],
  ])(
    "because it %s is explained in a sentence",
    async (_what, { name, settings }, text, exitCode) => {
      const nowhere = { AWS_CONFIG_FILE: "/none", AWS_SHARED_CREDENTIALS_FILE: "/none" };

      const ended = await runSkyhook(["status", "c1", "--stage", name], {
        ...environment,
        ...nowhere,
        ...settings,
      });

      expect(ended).toEqual({ exitCode, stdout: "", stderr: text });
    },
  );
});
