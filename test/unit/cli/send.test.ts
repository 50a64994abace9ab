import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runVerb } from "../../support/in-process-verb.ts";
import {
  eventsIn,
  runSkyhook,
  type SkyhookProcess,
  startSkyhook,
} from "../../support/skyhook-process.ts";

const CONTAINER = ["--project-id", "1234567", "--region-id", "76", "--container-name"];
const POLICY = ["--project-id", "1234567", "--region-id", "76", "--policy-id", "1"];
const EVENT = ["--storage-name", "my-storage-prod", "--bucket-name", "my-bucket"];

let skyhook: SkyhookProcess;
let endpoint: string;
let directory: string;
const outputs: string[] = [];

/** Runs a command against the running Skyhook; as a program of its own with input or --json. */
const run = async (args: readonly string[], input = "", at = endpoint) => {
  const environment = { SKYHOOK_ENDPOINT: at };
  const isProgram = input !== "" || args.includes("--json");
  const ended = await (isProgram
    ? runSkyhook(args, environment, input)
    : runVerb(args, environment));
  outputs.push(ended.stdout, ended.stderr);
  return ended;
};

const eventsOf = (commandId: string) =>
  eventsIn(skyhook.stdout(), true).filter(({ detail }) => detail.metadata.commandId === commandId);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "skyhook-send-"));
  skyhook = startSkyhook(["start", "--no-demo", "--json", "--task-seconds", "0.2"]);
  await skyhook.printed("What can be sent");
  endpoint = /listens at (\S+)/.exec(skyhook.stderr())?.[1] ?? "none";
});

afterAll(async () => {
  skyhook.child.kill("SIGTERM");
  await skyhook.ended();
  await rm(directory, { recursive: true });
});

describe("skyhook send", () => {
  it.concurrent("follows a command with flags of every kind to its end", async () => {
    const envs = join(directory, "envs.json");
    await writeFile(envs, '{"TOKEN":"hush-in-a-file"}');
    const flags = ["--description", "7", "--timeout", "30", "--scale", '{"min":1,"max":2}'];

    const args = [...CONTAINER, "my-container", ...flags, "--envs", `@${envs}`];
    const ended = await run(["send", "update-container", ...args, "--id", "all", "--wait"]);

    expect(ended.stderr).toBe("sent as all; waiting for its end (Ctrl-C ends only the wait)\n");
    expect(ended.stdout).toMatch(
      /^update-container all succeeded after \d+\.\d s\n {2}lane local\/container\/1234567\/76\/my-container, 1 request sent\n {2}task [0-9a-f-]{36} finished after \d+\.\d s\n$/,
    );
    expect(ended.exitCode).toBe(0);
  });

  it.concurrent("shows the request of a dry run, and sends nothing", async () => {
    const flags = ["--is-disabled", "true", "--envs", '{"TOKEN":"hush-dry"}', "--dry-run"];

    const args = [...CONTAINER, "my-container", ...flags, "--id", "dry", "--wait"];
    const ended = await run(["send", "update-container", ...args]);

    const [headline, lane, target, body] = ended.stdout.split("\n");
    expect(headline).toMatch(/^update-container dry succeeded \(dry run, nothing sent\) after/);
    expect(lane).toContain("0 requests sent");
    expect(target).toBe("  would send PATCH /cloud/v1/caas/1234567/76/containers/my-container");
    expect(body).toBe('  {"envs":"[redacted]","is_disabled":true}');
  });

  it.concurrent("delays a command until another one has succeeded", async () => {
    const policy = ["send", "update-policy", ...POLICY, "--status", "active"];
    const sent = await run([...policy, "--id", "later", "--after", "sooner", "--after", "soonest"]);
    const waiting = await run(["status", "later"]);

    await run([...policy, "--id", "sooner"]);
    const last = await run([...policy, "--id", "soonest", "--wait"]);
    const ended = await run([...policy, "--id", "last", "--after", "later", "--wait"]);

    expect([sent.exitCode, last.exitCode, ended.exitCode]).toEqual([0, 0, 0]);
    expect(waiting.stdout).toContain("later waiting");
    expect(waiting.stdout).toContain("  after sooner, soonest");
    expect(
      eventsOf("later")
        .map((event) => event["detail-type"])
        .at(-1),
    ).toBe("CommandSucceeded");
  });

  it.concurrent("cancels a command whose guard does not hold, with status 1", async () => {
    const network = {
      project_id: 1234567,
      region_id: 76,
      network_id: "b39792c3-3160-4356-912e-ba396c95cdcf",
    };
    const guards = JSON.stringify([{ network, key: "cost-center", equals: "games" }]);

    const args = [...POLICY, "--status", "active", "--guards", guards, "--wait"];
    const ended = await run(["send", "update-policy", ...args]);

    expect(ended.stdout).toContain('guards.0: tag cost-center must be "games"');
    expect(ended.exitCode).toBe(1);
  });

  it.concurrent("reports the problems of guards before sending", async () => {
    const unreadable = await run(["send", "update-policy", ...POLICY, "--guards", "paid"]);
    const wrong = await run(["send", "update-policy", ...POLICY, "--guards", '[{"key":"k"}]']);

    expect(unreadable.stderr).toContain("--guards: not valid JSON");
    expect(wrong.stderr).toContain("guards.0: exactly one of floating_ip, network");
    expect([unreadable.exitCode, wrong.exitCode]).toEqual([2, 2]);
  });

  it.concurrent("passes the largest unsigned 64-bit integer through exactly", async () => {
    const limit = ["--name", "reaching_used_space", "--bytes", "18446744073709551615"];

    const args = ["send", "update-storage-event", ...EVENT, ...limit, "--id", "uint64", "--wait"];
    const ended = await run([...args, "--json"]);

    expect(JSON.parse(ended.stdout)).toMatchObject({ status: "succeeded", commandId: "uint64" });
    expect(ended.exitCode).toBe(0);
  });

  it.concurrent("reads a body from standard input, and shows none of its secrets", async () => {
    const body = '{"pull_secret":"hush-in-the-body","envs":{"KEY":"hush-in-envs"}}';
    const args = ["send", "update-container", ...CONTAINER, "lost", "--body", "@-", "--wait"];

    const ended = await run(args, body);

    expect(ended.stdout).toContain("failed (refused)");
    expect(ended.exitCode).toBe(1);
  });

  it.concurrent("shows each reason of a refusal once", async () => {
    const instance = ["--instance-id", "6c6aa80f-7836-4dc2-a2ae-125e248be477"];
    const args = ["--project-id", "1234567", "--region-id", "76", ...instance, "--wait"];

    const ended = await run(["send", "resume-instance", ...args, "--id", "active"]);

    expect(ended.stdout.split("\n").slice(2)).toEqual([
      "  resume-instance: 400 refused",
      "  status: must be SUSPENDED to resume, is ACTIVE",
      "",
    ]);
  });

  it.concurrent("prints the id that `skyhook status` takes, without --wait", async () => {
    const sent = await run(["send", "update-policy", ...POLICY, "--status", "active"]);
    const id = sent.stdout.trim();
    await skyhook.printed(`"commandId":"${id}"`);

    const status = await run(["status", id, "--json"]);

    expect(sent.exitCode).toBe(0);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(sent.stderr).toMatch(new RegExp(`; state: npx skyhook status ${id}\n$`));
    expect(JSON.parse(status.stdout)).toMatchObject({ commandId: id, operation: "update-policy" });
    expect(status.exitCode).toBe(0);
  });

  it.concurrent("accepts a repeat of a command, and rejects another command with its id", async () => {
    const send = (status: string) =>
      run(["send", "update-policy", ...POLICY, "--status", status, "--id", "twice", "--wait"]);

    const first = await send("paused");
    const [again, other] = await Promise.all([send("paused"), send("active")]);
    const status = await run(["status", "twice"]);

    expect([first.exitCode, again.exitCode, other.exitCode]).toEqual([0, 0, 2]);
    expect(other.stdout).toBe(
      "update-policy rejected (id-reused)\n  metadata.commandId: already used by a command with another payload; send under a new id\n",
    );
    expect(status.stdout).toMatch(/^update-policy twice succeeded/);
    expect(status.stdout).toMatch(
      /\n {2}another request with this id was rejected at \S+ \(id-reused\), event [0-9a-f-]{36}\n {4}metadata.commandId: already used by a command with another payload; send under a new id\n/,
    );
    expect(status.exitCode).toBe(0);
    expect(eventsOf("twice").map((event) => event["detail-type"])).toEqual([
      "CommandAccepted",
      "CommandSucceeded",
    ]);
  });

  it.concurrent("does not send an invalid request, and lists every problem", async () => {
    const bad = ["--timeout", "500", "--scale", '{"min":3,"max":1}', "--id", "never"];
    const args = ["send", "update-container", ...CONTAINER, "my-container", ...bad];

    const ended = await run(args);

    expect(ended.stderr).toBe(
      "not sent: update-container rejected (invalid)\n  body.scale.min: must not exceed max\n  body.timeout: at most 180\n",
    );
    expect(ended.exitCode).toBe(2);
    expect(eventsOf("never")).toEqual([]);
  });

  it.concurrent("refuses an unknown option", async () => {
    const ended = await run(["send", "update-policy", ...POLICY, "--statu", "active"]);

    expect(ended.stderr).toBe(
      "error: unknown option '--statu'\n(Did you mean --status?)\n--help lists the arguments and options\n",
    );
    expect(ended.exitCode).toBe(2);
  });
});

describe("skyhook status", () => {
  it.concurrent("refuses an id that was never sent", async () => {
    const ended = await run(["status", "no/such?id"]);

    expect(ended.stderr).toBe(
      "no command no/such?id found, and no rejection in the last 30 days: it was never sent, or is still queued; check the id and --sender\n",
    );
    expect(ended.exitCode).toBe(2);
  });

  it.concurrent("shows a request that was rejected, by its command's id and its event's id", async () => {
    const put = join(directory, "rejected.json");
    const detail = {
      metadata: { commandId: "refused", id: "event-of-refused" },
      data: { operation: "update-policy", params: {}, body: {} },
    };
    await writeFile(
      put,
      JSON.stringify({ source: "team", "detail-type": "CommandRequested", detail }),
    );
    await run(["put-event", put]);
    await skyhook.printed("event-of-refused");

    const byCommand = await run(["status", "refused"]);
    const byEvent = await run(["status", "event-of-refused"]);

    expect(byCommand.stdout).toMatch(
      /^update-policy rejected \(invalid\)\n {2}params\.[\s\S]*\n {2}at \S+, command refused, event event-of-refused\n/,
    );
    expect(byEvent.stdout).toBe(byCommand.stdout);
    expect([byCommand.exitCode, byEvent.exitCode]).toEqual([2, 2]);
  });

  it.concurrent("reports an unreachable Skyhook with status 3", async () => {
    const ended = await run(["status", "c1"], "", "http://127.0.0.1:1");

    expect(ended.stderr).toMatch(
      /^nothing answers at http:\/\/127\.0\.0\.1:1; run `npx skyhook start`/,
    );
    expect(ended.exitCode).toBe(3);
  });
});

describe("the output of all tests above", () => {
  it("contains no secret of a request", () => {
    const printed = [...outputs, skyhook.stdout(), skyhook.stderr()].join("\n");

    expect(printed.length).toBeGreaterThan(1_000);
    expect(printed).not.toContain("hush");
  });
});
