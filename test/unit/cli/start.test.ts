import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  consoleOf,
  runSkyhook,
  type SkyhookProcess,
  startSkyhook,
} from "../../support/skyhook-process.ts";

const urlOf = (program: SkyhookProcess, what = "listens at"): string =>
  new RegExp(`${what}:? (\\S+)`).exec(program.stderr())?.[1] ?? "none";

const startQuietly = async (args: readonly string[], environment: Record<string, string> = {}) => {
  const program = startSkyhook(["start", "--no-demo", ...args], environment);
  await program.printed("What can be sent");
  return program;
};

const UPDATE_POLICY = {
  operation: "update-policy",
  params: { project_id: 1234567, region_id: 76, policy_id: 1 },
  body: { status: "active" },
};

/** Sends as `skyhook send` does. */
const send = ({ url, headers }: ReturnType<typeof consoleOf>, commandId: string) =>
  fetch(`${url}/commands`, {
    method: "POST",
    headers,
    body: JSON.stringify({ metadata: { id: commandId, commandId }, data: UPDATE_POLICY }),
  });

describe("skyhook start", () => {
  it.concurrent("ends with status 0 at SIGTERM, and closes its port", async () => {
    const program = await startQuietly(["--port", "0"]);
    const urls = [urlOf(program), urlOf(program, "provider")];

    program.child.kill("SIGTERM");

    expect(await program.ended()).toBe(0);
    for (const url of urls) await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  it.concurrent("sends nothing to a remote provider on its own, and shows no demo", async () => {
    const asked: string[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.writeHead(404).end("{}");
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    const folder = await mkdtemp(join(tmpdir(), "skyhook-elsewhere-"));
    const accounts = join(folder, "accounts.yaml");
    await writeFile(
      accounts,
      `accounts:\n  - { name: main, base_url: "${baseUrl}", api_key: { environment: KEY }, senders: [own] }\n`,
    );

    const program = startSkyhook(["start", "--accounts", accounts], { KEY: "1_key" });
    await program.printed("What can be sent");
    await sleep(3_000);
    program.child.kill("SIGTERM");

    expect(await program.ended()).toBe(0);
    expect(program.stderr()).toContain(`account main: ${baseUrl}\n`);
    expect(program.stderr()).not.toContain("embedded");
    expect(program.stdout()).toBe("");
    expect(asked).toEqual([]);
    elsewhere.close();
    await rm(folder, { recursive: true });
  });

  it.concurrent("lets a request finish after Ctrl-C; a second Ctrl-C ends it at once", async () => {
    let reached = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const silent = createServer(() => reached());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const program = await startQuietly(["--base-url", baseUrl], { SKYHOOK_API_KEY: "1_key" });
    await send(consoleOf(program), "c1");
    await asked;

    program.child.kill("SIGINT");
    const early = await Promise.race([program.ended(), sleep(700, "still running")]);
    program.child.kill("SIGINT");

    expect(early).toBe("still running");
    expect(await program.ended()).toBe("SIGINT");
    silent.closeAllConnections();
    silent.close();
  });

  it.concurrent("names every wrong setting without values, and ends with status 2", async () => {
    const args = ["start", "--port", "99999", "--base-url", "https://hush:hush@a.example"];

    const ended = await runSkyhook([...args, "--task-seconds", "hush"]);

    expect(ended.stderr).toBe(
      [
        "wrong settings:",
        "  --port: at most 65535",
        "  --task-seconds: a number of seconds",
        "  --base-url: must be a URL without user, password, query or fragment",
        "  SKYHOOK_API_KEY: required with --base-url, unless --api-key-parameter names an SSM parameter",
        "",
      ].join("\n"),
    );
    expect(ended.exitCode).toBe(2);
  });

  it.concurrent("reports a port or a data directory in use, and ends", async () => {
    const directory = await mkdtemp(join(tmpdir(), "skyhook-start-"));
    const first = await startQuietly(["--data", directory]);
    const { port } = new URL(urlOf(first));

    const [service, data] = await Promise.all([
      runSkyhook(["start", "--service-port", port]),
      runSkyhook(["start", "--data", directory]),
    ]);
    first.child.kill("SIGTERM");
    await first.ended();
    await rm(directory, { recursive: true });

    expect(service.stderr).toBe(
      `port ${port} is in use by another program; choose another port, or omit the option to get a free one\n`,
    );
    expect(data.stderr).toBe(
      `data directory ${directory}: in use by another run; stop that run, or use another folder\n`,
    );
    expect([service.exitCode, data.exitCode]).toEqual([2, 2]);
  });

  it.concurrent("ends quietly when the reader of its output has closed the pipe", async () => {
    const program = startSkyhook(["start", "--json", "--task-seconds", "0.2"]);
    await program.printed("listens at");

    program.child.stdout?.destroy();

    expect(await program.ended()).toBe(141);
    expect(program.stderr()).not.toContain("EPIPE");
  });
});

describe("the read command that skyhook start prints", () => {
  it.concurrent("can be pasted, and reads from the embedded service", async () => {
    const program = await startQuietly(["--port", "0"]);
    const exports = [...program.stderr().matchAll(/export (\w+)='?([^'\s]+)'?/g)];
    const environment = Object.fromEntries(exports.map(([, name, value]) => [name, value]));
    const [, args = ""] = /npx skyhook (read .+)/.exec(program.stderr()) ?? [];

    const ended = await runSkyhook(args.split(" "), environment);
    program.child.kill("SIGTERM");
    await program.ended();

    expect(ended.stdout).toMatch(/^id: 1\nname: schedule_1\n/);
    expect(ended.stderr).toBe("");
  });
});

describe("skyhook start with a remote provider", () => {
  it.concurrent("runs commands with a valid key; with an invalid one they wait, and their status shows the reason", async () => {
    const service = startSkyhook(["service"]);
    await service.printed("the service listens at this address");
    const baseUrl = service.stdout().trim();
    const key = /SKYHOOK_API_KEY='(\S+?)'/.exec(service.stderr())?.[1] ?? "none";
    const remote = (SKYHOOK_API_KEY: string) =>
      startQuietly(["--base-url", baseUrl], { SKYHOOK_API_KEY });
    const [right, wrong] = await Promise.all([remote(key), remote("2001_wrong-hush")]);
    const flags = ["--project-id", "1234567", "--region-id", "76", "--policy-id", "1"];
    const sendTo = (program: SkyhookProcess, seconds: string) => {
      const args = ["send", "update-policy", ...flags, "--status", "active", "--id", "c1"];
      const endpoint = ["--endpoint", urlOf(program)];
      return runSkyhook([...args, ...endpoint, "--wait", "--wait-seconds", seconds]);
    };
    const statusAt = async (program: SkyhookProcess) =>
      (await runSkyhook(["status", "c1", "--endpoint", urlOf(program)])).stdout;

    const [done] = await Promise.all([sendTo(right, "120"), sendTo(wrong, "1")]);
    // On a busy machine the first attempt may exceed the time-out.
    while (!(await statusAt(wrong)).includes("refuses the API key"));
    const waiting = await sendTo(wrong, "1");
    for (const { child } of [right, wrong, service]) child.kill("SIGTERM");
    const ends = await Promise.all([right.ended(), wrong.ended(), service.ended()]);

    expect(done.stdout).toMatch(/^update-policy c1 succeeded after /);
    expect(waiting.exitCode).toBe(4);
    expect(waiting.stderr).toBe(
      `sent as c1; waiting for its end (Ctrl-C ends only the wait)\nc1 has not ended after 1 s and continues\n  last attempt: the provider refuses the API key\n  state: npx skyhook status c1 --endpoint ${urlOf(wrong)}\n`,
    );
    expect(ends).toEqual([0, 0, 0]);
    for (const program of [right, wrong]) {
      expect(program.stdout() + program.stderr()).not.toMatch(/2001_/);
    }
  });
});
