import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runSkyhook, type SkyhookProcess, startSkyhook } from "../support/skyhook-process.ts";

const ACCOUNTS = `
accounts:
  - name: local
    senders: [own, { sender: "111122223333", operations: [update-policy] }]
aws_accounts: [{ id: "111122223333", bus: "arn:aws:events:us-east-1:111122223333:event-bus/b" }]
`;
const REACTIONS = `
reactions:
  - name: pause
    when: { source: [billing] }
    account: local
    then:
      operation: update-policy
      params: { project_id: 1234567, region_id: 76, policy_id: $.detail.policy }
      body: { status: paused }
`;

let skyhook: SkyhookProcess;
let endpoint: string;
let folder: string;

const put = (event: unknown, args: readonly string[] = []) =>
  runSkyhook(["put-event", "-", ...args], { SKYHOOK_ENDPOINT: endpoint }, JSON.stringify(event));
const EVENT = { source: "billing", "detail-type": "InvoiceDue", detail: { policy: 1 } };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "skyhook-put-"));
  const files = { accounts: join(folder, "a.yaml"), reactions: join(folder, "r.yaml") };
  await writeFile(files.accounts, ACCOUNTS);
  await writeFile(files.reactions, REACTIONS);
  skyhook = startSkyhook([
    "start",
    "--no-demo",
    "--accounts",
    files.accounts,
    "--reactions",
    files.reactions,
  ]);
  await skyhook.printed("What can be sent");
  endpoint = /listens at (\S+)/.exec(skyhook.stderr())?.[1] ?? "none";
});

afterAll(async () => {
  skyhook.child.kill("SIGTERM");
  await skyhook.ended();
  await rm(folder, { recursive: true });
});

describe("skyhook put-event", { timeout: 30_000 }, () => {
  it("puts an event as another AWS account, and shows where its end goes", async () => {
    const ended = await put(EVENT, ["--from", "111122223333"]);
    const id = ended.stdout.trim();

    await skyhook.printed(`CommandSucceeded ${id}:pause`);
    expect(ended.exitCode).toBe(0);
    expect(skyhook.stdout()).toContain("from 111122223333");
    expect(skyhook.stdout()).toContain("to the bus of 111122223333");
  });

  it("tells what the bus does not take", async () => {
    const stranger = await put(EVENT, ["--from", "444455556666"]);
    const bare = await put({ detail: {} });
    const nothing = await runSkyhook(["put-event", join(folder, "none.json")], {
      SKYHOOK_ENDPOINT: endpoint,
    });

    expect(stranger.stderr).toContain("Skyhook answers 403: AWS account 444455556666 may put");
    expect(bare.stderr).toContain("source: required");
    expect(nothing.stderr).toContain("none.json: there is no such file");
    expect([stranger.exitCode, bare.exitCode, nothing.exitCode]).toEqual([2, 2, 2]);
  });
});

describe("skyhook start with teams", () => {
  it.each([
    [["--accounts", "none.yaml"], "none.yaml: there is no such file"],
    [["--reactions", "none.yaml"], "none.yaml: there is no such file"],
  ])("ends with status 2 and says what is wrong with %j", async (args, text) => {
    const ended = await runSkyhook(["start", ...args]);

    expect(ended.stderr).toContain(text);
    expect(ended.exitCode).toBe(2);
  });
});
