import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listText } from "../../../lib/cli/commands/list.ts";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook, type SkyhookProcess, startSkyhook } from "../../support/skyhook-process.ts";

let started: SkyhookProcess;
let environment: Record<string, string>;

const UPDATE = [
  "update-policy",
  "--project-id",
  "1234567",
  "--region-id",
  "76",
  "--policy-id",
  "1",
];
const skyhook = (...args: readonly string[]) => runVerb(args, environment);

beforeAll(async () => {
  started = startSkyhook(["start", "--no-demo"]);
  await started.printed("What can be sent");
  const SKYHOOK_ENDPOINT = /listens at (\S+)/.exec(started.stderr())?.[1] ?? "none";
  environment = { SKYHOOK_ENDPOINT };
});

afterAll(async () => {
  started.child.kill("SIGTERM");
  await started.ended();
});

describe("the table of the list", () => {
  const row = {
    id: "c1",
    operation: "update-policy",
    status: "waiting",
    at: "2026-01-31T12:00:00.000Z",
  };

  it.each([
    ["leaves out the sender of Skyhook's own commands", "000000000000", "000000000000", false],
    ["names a sender that the other commands need", "111122223333", "000000000000", true],
    [
      "names each sender where Skyhook's own AWS account is unknown",
      "000000000000",
      undefined,
      true,
    ],
  ])("%s", (_name, sender, own, isShown) => {
    const text = listText({ rows: [{ ...row, sender }] }, own);

    expect(text.includes(sender)).toBe(isShown);
  });
});

describe("skyhook list", () => {
  it("reports an empty list, then lists commands, the newest first", async () => {
    const empty = await skyhook("list");
    for (const id of ["first", "second"]) {
      await skyhook("send", ...UPDATE, "--status", "paused", "--id", id, "--wait");
    }
    const full = await runSkyhook(["list"], environment);
    const unmatched = await skyhook("list", "--operation", "update-polcy", "--status", "failed");

    expect(empty).toMatchObject({ exitCode: 0, stdout: "no commands\n", stderr: "" });
    expect(unmatched).toMatchObject({
      exitCode: 0,
      stderr: "no command matches --operation update-polcy --status failed\n",
    });
    const [heads, ...rows] = full.stdout.trim().split("\n");
    expect(heads).toMatch(/^accepted +status +operation +id$/);
    expect(rows.map((row) => row.split(/ {2,}/).slice(1))).toEqual([
      ["succeeded", "update-policy", "second"],
      ["succeeded", "update-policy", "first"],
    ]);
  });

  it("continues at the cursor of a full page", async () => {
    const first = await skyhook("list", "--limit", "1", "--json");
    const cursor = /--cursor (\S+)/.exec(first.stderr)?.[1]?.replaceAll("'", "") ?? "none";
    const second = await skyhook("list", "--limit", "1", "--json", "--cursor", cursor);

    expect(JSON.parse(first.stdout)).toMatchObject({ id: "second" });
    expect(JSON.parse(second.stdout)).toMatchObject({ id: "first" });
  });

  it("continues behind an id of any characters, and shows it safely", async () => {
    const id = "it's \u001b[31m#/\u{1f600}";
    for (const each of [id, "third"]) {
      await skyhook("send", ...UPDATE, "--status", "paused", "--id", each, "--wait");
    }
    const table = await skyhook("list", "--limit", "2");
    const cursor = /--cursor ([\w-]+)$/m.exec(table.stderr)?.[1] ?? "none";
    const next = await skyhook("list", "--limit", "1", "--json", "--cursor", cursor);

    expect(table.stdout).toContain("it's \\u001b[31m#/\u{1f600}\n");
    expect(JSON.parse(next.stdout)).toMatchObject({ id: "second" });
  });

  it("takes an age from before Unix time for everything", async () => {
    expect(await skyhook("list", "--since", "999999d", "--account", "none")).toMatchObject({
      exitCode: 0,
      stdout: "no commands on this page\n",
    });
  });

  it("watches: prints new and changed rows as lines until Ctrl-C", async () => {
    const watching = startSkyhook(["list", "--watch", "--json", "--limit", "1"], environment);
    await watching.printed('"id":"third"');
    await skyhook("send", ...UPDATE, "--status", "paused", "--id", "watched", "--wait");
    await watching.printed('"id":"watched"');
    watching.child.kill("SIGINT");

    expect(await watching.ended()).toBe(0);
    expect(watching.stdout().match(/"id":"third"/g)).toHaveLength(1);
    expect(watching.stderr()).toBe("");
  });

  it.each([
    [["--watch", "--until", "1h"], "--until: not with --watch"],
    [["--cursor", "x"], "--cursor: must be the cursor that an earlier page ended with"],
    [["--since", "1h", "--until", "2h"], "--since: must not be after until"],
    [["--limit", "501"], "--limit: at most 500"],
    [["--limit", "many"], "--limit: a number"],
    [["--since", "yesterday"], "--since: must be an age such as 24h or 7d"],
    [["--until", "soon"], "--until: must be an age such as 24h or 7d"],
    [["--status", "done"], "Allowed choices are accepted, waiting"],
  ])("refuses %j and lists the permitted values", async (args, text) => {
    const ended = await skyhook("list", ...args);

    expect(ended.stderr).toContain(text);
    expect(ended.exitCode).toBe(2);
  });
});
