import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buryIn } from "../../support/bury.ts";
import { runVerb } from "../../support/in-process-verb.ts";
import { updateContainer, updatePolicy } from "../../support/requests.ts";
import { runSkyhook, type SkyhookProcess, startSkyhook } from "../../support/skyhook-process.ts";

const CANARY = "canary-7f3a9";

let directory: string;
let program: SkyhookProcess;
let environment: Record<string, string>;
const outputs: string[] = [];

const run = async (...args: readonly string[]) => {
  const isProgram = args.length === 1 || args.includes("--all");
  const ended = await (isProgram ? runSkyhook : runVerb)(args, environment);
  outputs.push(ended.stdout, ended.stderr);
  return ended;
};

const idsIn = (text: string): readonly string[] =>
  text.split("\n").filter((line) => /^[0-9a-f]{8}-/.test(line));

const start = async (): Promise<void> => {
  directory = await mkdtemp(join(tmpdir(), "skyhook-dead-"));
  await buryIn(directory, [
    JSON.stringify(updatePolicy("p1")),
    JSON.stringify(updateContainer("c1", { envs: { TOKEN: CANARY } })),
    `{"envs":{"TOKEN":"${CANARY}"`,
  ]);
  program = startSkyhook(["start", "--no-demo", "--json", "--data", directory]);
  await program.printed("What can be sent");
  const endpoint = /listens at (\S+)/.exec(program.stderr())?.[1] ?? "none";
  environment = { SKYHOOK_ENDPOINT: endpoint };
};

const stop = async (): Promise<void> => {
  program.child.kill("SIGTERM");
  await program.ended();
  await rm(directory, { recursive: true });
};

describe("skyhook dead-letters", () => {
  beforeEach(start);
  afterEach(stop);

  it("explains each, sends back the recommended ones, and deletes the others", async () => {
    const listed = await run("dead-letters");
    const [policy = "", container = "", broken = ""] = idsIn(listed.stdout);

    expect(listed).toMatchObject({ exitCode: 0, stderr: "" });
    expect(listed.stdout).toContain(
      [
        "  command: update-policy p1 from 000000000000 in lane local/policy/1234567/76/1",
        "  command now: not in the ledger: never accepted",
        '  content: {"operation":"update-policy","params":{"project_id":1234567,"region_id":76,"policy_id":1},"query":{},"body":{"status":"paused"}}',
        "  redrive: runs it",
        `  next: npx skyhook redrive ${policy}`,
      ].join("\n"),
    );
    expect(listed.stdout).toContain(
      [
        "  command now: no command",
        "  redrive: rejects it; no CommandRejected event is possible, because it has no id",
        `  next: npx skyhook dead-letters delete ${broken}`,
      ].join("\n"),
    );

    const kept = await run("dead-letters", "delete", policy);
    expect(kept).toMatchObject({ exitCode: 2, stderr: "" });
    expect(kept.stdout).toMatch(
      / kept: .* \(deleting it would lose a command; add --force to delete it anyway; not in the ledger/,
    );
    const deleted = await run("dead-letters", "delete", broken);
    expect(deleted).toMatchObject({ exitCode: 0 });
    const forced = await run("dead-letters", "delete", container, "--force", "--json");
    expect(JSON.parse(forced.stdout)).toMatchObject([{ messageId: container, outcome: "deleted" }]);

    const redriven = await run("redrive", "--all");
    expect(redriven).toMatchObject({
      exitCode: 0,
      stdout: `${policy} sent back: a request that was sent to the queue directly (runs it)\n`,
    });
    await program.printed('"CommandSucceeded"');
    expect(await run("dead-letters")).toMatchObject({ exitCode: 0, stdout: "no dead letters\n" });
    expect(outputs.join("")).not.toContain(CANARY);
  });

  it("previews a redrive by filters, and redrives when the printed line runs", async () => {
    const preview = await run("dead-letters", "redrive", "--reason", "runnable");
    const line = /npx skyhook (.*)\n$/.exec(preview.stderr)?.[1] ?? "none";
    const applied = await run(...line.split(" "));

    expect(preview.exitCode).toBe(0);
    expect(preview.stdout).toMatch(
      /^\S+ would be sent back: a request that was sent to the queue directly \(runs it\)\n/,
    );
    expect(preview.stderr).toMatch(
      /^nothing has changed yet; to redrive \d: npx skyhook dead-letters redrive --reason runnable --until \S+ --yes\n$/,
    );
    expect(applied.exitCode).toBe(0);
    expect(applied.stdout).toMatch(/^\S+ sent back: /);
    expect((await run("dead-letters", "--json")).stdout).not.toContain("runnable");
  });
});

describe("without a change, skyhook dead-letters", () => {
  beforeAll(start);
  afterAll(stop);

  it("prints JSON for scripts, without secrets", async () => {
    const { stdout } = await run("dead-letters", "--json");

    expect(JSON.parse(stdout)).toMatchObject({
      deadLetters: [
        { commandId: "p1", advice: "redrive", deletingLoses: "command" },
        { commandId: "c1", content: { body: { envs: "[redacted]" } } },
        { kind: "unreadable", advice: "delete" },
      ],
      more: 0,
    });
    expect(stdout).not.toContain(CANARY);
  });

  it("names the ids that match no dead letter, and ends with status 2", async () => {
    const ended = await run("redrive", "nothing");

    expect(ended).toMatchObject({
      exitCode: 2,
      stdout: "nothing not found (not among the messages that can be received now)\n",
    });
  });

  it("refuses --accounts without --stage", async () => {
    expect(await run("dead-letters", "--accounts", "accounts.yaml")).toMatchObject({
      exitCode: 2,
      stderr: "--accounts: only with --stage; a running Skyhook uses its own accounts file\n",
    });
  });

  it.each([
    [["redrive"], "redrive: needs either ids, --all or filters such as --queue;"],
    [["redrive", "--all", "--queue", "commands"], "redrive: needs either ids, --all or filters"],
    [["dead-letters", "delete"], "delete: needs either ids or filters such as --queue;"],
    [["dead-letters", "redrive", "--until", "1h"], "needs at least one of queue, reason, since"],
    [["redrive", "--queue", "wake"], "Allowed choices are commands, requests"],
  ])("refuses %j", async (args, text) => {
    const ended = await run(...args);

    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain(text);
  });
});

describe("skyhook dead-letters of a stage", () => {
  const aws = { AWS_REGION: "eu-central-1", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };

  it("report an unreachable stage", async () => {
    const AWS_ENDPOINT_URL = "http://127.0.0.1:9";

    const ended = await runSkyhook(["dead-letters", "--stage", "prod"], {
      ...aws,
      AWS_ENDPOINT_URL,
      AWS_MAX_ATTEMPTS: "1",
    });

    expect(ended).toMatchObject({ exitCode: 3, stdout: "" });
    expect(ended.stderr).toMatch(/^AWS does not answer \(.*ECONNREFUSED/);
  });

  it("refuse a missing region", async () => {
    const ended = await runSkyhook(["dead-letters", "--stage", "prod"], {
      AWS_CONFIG_FILE: "/dev/null",
    });

    expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
    expect(ended.stderr).toBe("no AWS region: set AWS_REGION to the region of the stage\n");
  });

  it("refuse an invalid stage name", async () => {
    const ended = await runSkyhook(["redrive", "--all", "--stage", "../x"], aws);

    expect(ended).toMatchObject({
      exitCode: 2,
      stderr: "--stage: must be the name of a deployed stage, such as prod\n",
    });
  });
});
