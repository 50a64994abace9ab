import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { commandOf } from "../../support/commands.ts";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook } from "../../support/skyhook-process.ts";
import { openTableServer, type TableServer } from "../../support/table-server.ts";

let table: TableServer;
let client: DynamoDBClient;
let ledger: Ledger;

const ACCEPTED_AT = Date.now() - 60_000;
const LATER = Date.UTC(2100, 0, 1);

const cancel = (...args: readonly string[]) =>
  runVerb(["cancel", "--stage", "test", ...args], table.environment);

const put = async (sender: string, id: string, fields: Partial<Command> = {}) => {
  const command = commandOf({ sender, id, acceptedAt: ACCEPTED_AT, deadline: LATER, ...fields });
  await commands.write(ledger, commandKey(command), undefined, command);
};
const statusOf = async (sender: string, id: string) =>
  (await commands.read(ledger, commandKey({ sender, id })))?.value.state.status;

const waiting: Command["state"] = { status: "waiting" };
const following: Command["state"] = {
  status: "following",
  tasks: [{ id: "t1" }],
  tasksRecorded: true,
};
const ended: Command["state"] = {
  status: "succeeded",
  endedAt: ACCEPTED_AT,
  settled: true,
  tasks: [],
};

beforeAll(async () => {
  const tableName = "skyhook-test-ledger";
  table = await openTableServer(tableName);
  client = new DynamoDBClient(table.clientConfig);
  ledger = createDynamodbLedger({ client, tableName });
});

afterAll(async () => {
  client.destroy();
  await table.close();
});

describe("skyhook cancel with filters", () => {
  it("shows what it would cancel, and cancels it only when the printed line runs", async () => {
    const sender = "111100001111";
    for (const id of ["w1", "w2"]) await put(sender, id, { state: waiting });
    await put(sender, "tasks", { state: following });
    await put(sender, "done", { state: ended });

    const preview = await cancel("--sender", sender);
    const before = await statusOf(sender, "w1");
    await put(sender, "late", { acceptedAt: Date.now(), state: waiting });
    const line = /npx skyhook cancel (.*)\n$/.exec(preview.stderr)?.[1] ?? "none";
    const applied = await runSkyhook(["cancel", ...line.split(" ")], table.environment);

    expect(preview.exitCode).toBe(0);
    expect(preview.stdout.split("\n").map((each) => each.trim())).toEqual([
      "count  operation         status     cancel",
      "2      update-container  waiting    ends as cancelled, without an effect",
      "1      update-container  following  cannot be cancelled: the provider works on its tasks",
      "1      update-container  succeeded  has ended",
      "",
      expect.stringMatching(/^accepted +status +sender +id$/),
      expect.stringMatching(/waiting +111100001111 +w2$/),
      expect.stringMatching(/waiting +111100001111 +w1$/),
      "",
    ]);
    expect(preview.stderr).toMatch(
      /^nothing is cancelled yet; to cancel 2: npx skyhook cancel --sender 111100001111 --until \S+ --stage test --yes\n$/,
    );
    expect(before).toBe("waiting");
    expect(await statusOf(sender, "w1")).toBe("cancelled");
    expect(await statusOf(sender, "late")).toBe("waiting");
    // One command still works at the provider.
    expect(applied.exitCode).toBe(2);
    expect(applied.stdout.trim().split("\n").toSorted()).toEqual([
      "tasks cannot be cancelled: the provider works on task t1, which Skyhook follows to its end",
      "w1 is cancelled; it had no effect",
      "w2 is cancelled; it had no effect",
    ]);
    expect(applied.stderr).toContain("the poller publishes its event within a minute");
  });

  it("names in JSON what a cancellation would do, without the answer of one", async () => {
    const sender = "222200003333";
    await put(sender, "w1", { state: waiting });

    const previewed = await cancel("--sender", sender, "--json");

    expect(JSON.parse(previewed.stdout)).toMatchObject({ id: "w1", preview: "cancelled" });
    expect(previewed.stdout).not.toMatch(/endedAt|stopped/);
  });

  it("ends with 0 and one JSON object a line when every open command is cancelled", async () => {
    const sender = "222200002222";
    await put(sender, "w1", { state: waiting });
    await put(sender, "done", { state: ended });

    const applied = await cancel("--sender", sender, "--yes", "--json");

    const rows = applied.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ id, cancel }) => `${id} ${cancel.kind}`).toSorted()).toEqual([
      "done ended",
      "w1 stopped",
    ]);
    expect(applied.exitCode).toBe(0);
  });

  it("waits for requests in flight, and ends with 4 when they stay so", async () => {
    const sender = "333300003333";
    const lease = { by: "r", until: LATER };
    await put(sender, "busy", {
      state: { status: "running", lease, notBefore: ACCEPTED_AT, lookAt: LATER },
    });

    const applied = await cancel("--sender", sender, "--yes", "--wait-seconds", "1");

    expect(applied.exitCode).toBe(4);
    expect(applied.stdout).toContain("busy is not cancelled: a request is in flight");
    expect(await statusOf(sender, "busy")).toBe("running");
  });

  it.each([
    [[], "cancel: needs an id, or a filter such as --status or --account\n"],
    [
      ["--until", "1h", "--yes"],
      "cancel: needs an id, or a filter such as --status or --account\n",
    ],
    [["c1", "--yes"], "--yes: not with an id, which names one command\n"],
    [["c1", "--status", "waiting"], "--status: not with an id, which names one command\n"],
  ])("refuses %j", async (args, stderr) => {
    expect(await cancel(...args)).toEqual({ exitCode: 2, stdout: "", stderr });
  });

  it("reports that no command matches", async () => {
    expect(await cancel("--account", "none")).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "no command matches; nothing is cancelled\n",
    });
  });
});
