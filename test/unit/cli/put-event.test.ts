import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook, type SkyhookProcess, startSkyhook } from "../../support/skyhook-process.ts";

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
  - name: pause-by-size
    when: { source: [billing], detail: { size: [large], policy: [{ exists: true }] } }
    account: local
    then:
      operation: update-policy
      params: { project_id: 1234567, region_id: 76, policy_id: $.detail.policy }
      body: { name: $.detail.size }
  - name: rename
    when: { source: [billing] }
    account: local
    then:
      operation: update-policy
      params: { project_id: 1234567, region_id: 76, policy_id: $.detail.policy }
      body: { name: $.detail.name }
  - name: on-bucket
    when: { source: [aws.s3] }
    bus: default
    account: local
    then:
      operation: update-policy
      params: { project_id: 1234567, region_id: 76, policy_id: 1 }
      body: { status: paused }
`;

let skyhook: SkyhookProcess;
let endpoint: string;
let folder: string;

let puts = 0;
const put = async (event: unknown, args: readonly string[] = []) => {
  puts += 1;
  const file = join(folder, `put-${puts}.json`);
  await writeFile(file, JSON.stringify(event));
  return runVerb(["put-event", file, ...args], { SKYHOOK_ENDPOINT: endpoint });
};
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

describe("skyhook put-event", () => {
  it("puts an event as another AWS account, and publishes the result to its bus", async () => {
    const args = ["put-event", "-", "--from", "111122223333"];
    const ended = await runSkyhook(args, { SKYHOOK_ENDPOINT: endpoint }, JSON.stringify(EVENT));
    const id = ended.stdout.trim();

    await skyhook.printed(`CommandSucceeded ${id}:pause`);
    // One of its reactions makes a command that is rejected.
    expect(ended.exitCode).toBe(2);
    expect(skyhook.stdout()).toContain("from 111122223333");
    expect(skyhook.stdout()).toContain("to the bus of 111122223333");
  });

  it("shows each reaction with its command id or the fields without a match", async () => {
    const ended = await put(EVENT, ["--from", "111122223333"]);
    const id = ended.stdout.trim();

    expect(ended.stderr).toBe(
      [
        `pause: matches, command ${id}:pause`,
        "pause-by-size: no match on detail.size",
        `rename: matches, command rejected (invalid), ${id}:rename`,
        "  $.detail.name: not in the event",
        "on-bucket: no match on bus, source",
        "Follow it:",
        `  npx skyhook status ${id}:pause --sender 111122223333`,
        "",
      ].join("\n"),
    );
    expect(ended.exitCode).toBe(2);
  });

  it("shows the command of a CommandRequested event, or its rejection", async () => {
    const detail = {
      metadata: { commandId: "asked-1" },
      data: {
        operation: "update-policy",
        params: { project_id: 1234567, region_id: 76, policy_id: 1 },
        body: { status: "paused" },
      },
    };
    const asked = { source: "team", "detail-type": "CommandRequested", detail };
    const ended = await put(asked);
    const refused = await put(asked, ["--from", "111122223333"]);
    const wrong = await put({ ...asked, detail: { data: { operation: "no-such" } } });

    expect(ended.stderr).toContain("CommandRequested: matches, command asked-1\n");
    expect(ended.stderr).toContain("Follow it:\n  npx skyhook status asked-1\n");
    expect(refused.stderr).toContain("CommandRequested: matches, command asked-1\n");
    expect(wrong.stderr).toContain(
      "CommandRequested: matches, command rejected (unknown-operation)",
    );
    expect([ended, refused, wrong].map(({ exitCode }) => exitCode)).toEqual([0, 0, 2]);
  });

  it("reports an event without a matching reaction", async () => {
    const ended = await put({ ...EVENT, source: "shop" });

    expect(ended.stderr).toContain("pause: no match on source\n");
    expect(ended.stderr).toContain("No reaction matches this event, so it creates no command.\n");
    expect(ended.exitCode).toBe(0);
  });

  it("refuses an event under Skyhook's own source, of any AWS account", async () => {
    const own = await put({ ...EVENT, source: "skyhook" });
    const team = await put({ ...EVENT, source: "skyhook" }, ["--from", "111122223333"]);

    expect(own).toMatchObject({ exitCode: 2, stdout: "" });
    expect(own.stderr).toContain(
      "Skyhook refuses the request (403): source skyhook is reserved for Skyhook's own events",
    );
    expect(own.stderr).toContain("skyhook reactions test");
    expect(team.stderr).toBe(own.stderr);
  });

  it("creates the same command as `reactions test` from the same file", async () => {
    const file = join(folder, "event.json");
    const reactions = ["--reactions", join(folder, "r.yaml"), "--accounts", join(folder, "a.yaml")];
    await writeFile(file, JSON.stringify(EVENT));

    const tested = await runVerb(["reactions", "test", "pause", file, ...reactions]);
    const ended = await put(EVENT);

    expect(tested.stderr).toBe("added to the event, as by put-event: id, account, time\n");
    expect(tested.stdout).toContain("AWS account 000000000000 may run it");
    expect(tested.exitCode).toBe(0);
    expect(ended.stderr).toContain("pause: matches, command ");
  });

  it("reports an event that the bus does not accept", async () => {
    const stranger = await put(EVENT, ["--from", "444455556666"]);
    const bare = await put({ detail: {} });
    const nothing = await runVerb(["put-event", join(folder, "none.json")], {
      SKYHOOK_ENDPOINT: endpoint,
    });

    expect(stranger.stderr).toContain(
      "Skyhook refuses the request (403): AWS account 444455556666 may not put events",
    );
    expect(bare.stderr).toContain("source: required");
    expect(nothing.stderr).toContain("none.json: no such file");
    expect([stranger.exitCode, bare.exitCode, nothing.exitCode]).toEqual([2, 2, 2]);
  });
});

describe("the event file of docs/getting-started.md", () => {
  /** The fenced block that holds the text. */
  const blockWith = (page: string, text: string): string =>
    [...page.matchAll(/```.+?\n(.*?)```/gs)]
      .map(([, code = ""]) => code)
      .find((code) => code.includes(text)) ?? "";

  it("creates the printed command with the printed reactions file", async () => {
    const page = await readFile(
      new URL("../../../docs/getting-started.md", import.meta.url),
      "utf8",
    );
    const file = join(folder, "event.json");
    const reactions = join(folder, "reactions.yaml");
    await writeFile(file, blockWith(page, '"detail-type": "InvoicePaid"'));
    await writeFile(reactions, blockWith(page, "- name: resume-when-paid"));
    const started = startSkyhook(["start", "--no-demo", "--reactions", reactions]);
    await started.printed("What can be sent");
    const address = /listens at (\S+)/.exec(started.stderr())?.[1] ?? "none";

    const checked = await runSkyhook(["reactions", "check", reactions]);
    const tested = await runSkyhook([
      "reactions",
      "test",
      "resume-when-paid",
      file,
      "--reactions",
      reactions,
    ]);
    const ended = await runSkyhook(["put-event", file], { SKYHOOK_ENDPOINT: address });
    await started.printed(`${ended.stdout.trim()}:resume-when-paid  succeeded`);

    expect([checked.exitCode, tested.exitCode, ended.exitCode]).toEqual([0, 0, 0]);
    started.child.kill("SIGTERM");
    await started.ended();
  });
});

describe("skyhook start with teams", () => {
  it.each([
    [["--accounts", "none.yaml"], "none.yaml: no such file"],
    [["--reactions", "none.yaml"], "none.yaml: no such file"],
  ])("ends with status 2 and a problem for %j", async (args, text) => {
    const ended = await runSkyhook(["start", ...args]);

    expect(ended.stderr).toContain(text);
    expect(ended.exitCode).toBe(2);
  });
});
