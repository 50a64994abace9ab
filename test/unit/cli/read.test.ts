import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook, type SkyhookProcess, startSkyhook } from "../../support/skyhook-process.ts";

const CONTAINER = ["--project-id", "1234567", "--region-id", "76", "--container-name"];
const NETWORK = "b39792c3-3160-4356-912e-ba396c95cdcf";
const TAG = ["--project-id", "1234567", "--region-id", "76", "--network-id", NETWORK];

let service: SkyhookProcess;
let baseUrl: string;
let key: string;

const read = (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = "",
) => {
  const settings = { SKYHOOK_BASE_URL: baseUrl, SKYHOOK_API_KEY: key, ...environment };
  const verb = ["read", ...args];
  return input === "" ? runVerb(verb, settings) : runSkyhook(verb, settings, input);
};

beforeAll(async () => {
  service = startSkyhook(["service"]);
  await service.printed("skyhook read");
  baseUrl = /export SKYHOOK_BASE_URL=(\S+)/.exec(service.stderr())?.[1] ?? "none";
  key = /export SKYHOOK_API_KEY='(\S+)'/.exec(service.stderr())?.[1] ?? "none";
});

afterAll(async () => {
  service.child.kill("SIGTERM");
  await service.ended();
});

describe("skyhook read", () => {
  it.concurrent("prints the provider's answer, with the variables that the service printed", async () => {
    const ended = await read(["get-network-tag", ...TAG, "--key", "cost-center"]);

    expect(ended).toEqual({
      exitCode: 0,
      stdout: "key: cost-center\nread_only: false\nvalue: platform\n",
      stderr: "",
    });
  });

  it.concurrent("takes a body from standard input, which a flag overrides", async () => {
    const network = { type: "external" };
    const body = { flavor: "no-such-flavor", interfaces: [network, network], names: ["a", "b"] };
    const args = ["preview-instance-price", "--project-id", "1234567", "--region-id", "76"];

    const ended = await read(
      [...args, "--body", "@-", "--flavor", "g1-standard-2-4", "--json"],
      {},
      JSON.stringify(body),
    );

    expect(JSON.parse(ended.stdout)).toMatchObject({ price_status: "show", vm_count: 2 });
    expect(ended.exitCode).toBe(0);
  });

  it.concurrent("prints with --json the largest unsigned 64-bit integer as a decimal string", async () => {
    const event = '"name":"reaching_used_traffic","storage_name":"s","bucket_name":"b"';
    await fetch(`${baseUrl}/storage/notifications/v1/event`, {
      method: "POST",
      headers: { authorization: `apikey ${key}`, "content-type": "application/json" },
      body: `{${event},"bytes":18446744073709551615}`,
    });

    const { stdout } = await read(["list-storage-events", "--json"]);

    expect(JSON.parse(stdout)).toMatchObject({
      reaching_used_traffic: [{ storage_name: "s", bytes: "18446744073709551615" }],
    });
  });

  it.concurrent("reads a task at the path of --task-path", async () => {
    const taskId = "d478ae29-dedc-4869-82f0-96104425f565";
    const path = ["--task-path", "/cloud/v1/tasks/{task_id}"];

    const ended = await read(["get-task", "--task-id", taskId, ...path]);

    expect(ended.stdout).toContain(`id: ${taskId}\ntask_type: create_router\nstate: FINISHED\n`);
  });

  it.concurrent("redacts the values of a container's variables", async () => {
    const ended = await read(["get-container", ...CONTAINER, "my-container"]);

    expect(ended.stdout).toContain("envs:\n  LOG_LEVEL: [redacted]\npull_secret: -\n");
  });

  it.concurrent("sends no invalid request, and lists every problem", async () => {
    const args = ["get-network-tag", "--network-id", "hush", "--data", '{"deadline":"hush"}'];

    const ended = await read([...args, "--project-id", "1"], {
      SKYHOOK_BASE_URL: "http://a.example",
    });

    expect(ended.stderr).toBe(
      [
        "not sent: get-network-tag",
        "  params.region_id: required",
        "  params.network_id: a UUID",
        "  query.key: required",
        "  deadline: unknown field",
        "  fields and limits: npx skyhook operations get-network-tag",
        "",
      ].join("\n"),
    );
    expect(ended.exitCode).toBe(2);
  });

  it.concurrent("prints the provider's message for an unknown resource", async () => {
    const ended = await read(["get-network-tag", ...TAG, "--key", "none"]);

    expect(ended.stderr).toMatch(/^get-network-tag: 404 not-found: .*tag.* not found\n$/);
    expect([ended.exitCode, ended.stdout]).toEqual([2, ""]);
  });

  it.concurrent("ends with status 3 for an unreachable address, and names it", async () => {
    const ended = await read(["list-tasks"], { SKYHOOK_BASE_URL: "http://127.0.0.1:2" });

    expect(ended.stderr).toBe(
      "list-tasks: no connection (ECONNREFUSED)\n  check the address http://127.0.0.1:2 (--base-url or SKYHOOK_BASE_URL)\n",
    );
    expect(ended.exitCode).toBe(3);
  });

  it.concurrent("ends with status 2 for a refused key, without showing it", async () => {
    const ended = await read(["list-tasks", "--json"], { SKYHOOK_API_KEY: "2001_wrong-hush" });

    expect(ended.stderr).toMatch(
      /^list-tasks: 401 key-refused: .+\n {2}check the key in SKYHOOK_API_KEY\n$/,
    );
    expect(ended.stderr).not.toContain("hush");
    expect([ended.exitCode, ended.stdout]).toEqual([2, ""]);
  });
});
