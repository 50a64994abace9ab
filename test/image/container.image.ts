import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { findContainerTool } from "../../infra/image.mjs";
import { BUILT_IN_API_KEYS } from "../../lib/service/state/keys.ts";

const run = promisify(execFile);

/** As docs/container.md shows it for a run without privileges. */
const BARE = [
  "--cap-drop",
  "ALL",
  "--security-opt",
  "no-new-privileges",
  "--read-only",
  "--tmpfs",
  "/tmp",
];
const POLICY = "cloud/v1/lifecycle_policy/1234567/76/1";
const KEY = "image-test-key";

let tool: string;
beforeAll(() => {
  const found = findContainerTool();
  if (found === undefined) throw new Error("neither Docker nor Podman works here");
  tool = found;
});

const call = async (...args: readonly string[]): Promise<string> =>
  (await run(tool, args)).stdout.trim();

/** Starts a container that listens at `inside`, published at a free port of 127.0.0.1. */
const start = async (inside: number, options: readonly string[], args: readonly string[]) => {
  const publish = ["--publish", `127.0.0.1::${inside}`];
  const id = await call("run", "--detach", ...publish, ...options, "skyhook", ...args);
  onTestFinished(async () => {
    await call("rm", "--force", id);
  });
  await expect
    .poll(
      () => call("exec", id, "node", "/app/container/health.mjs").then(() => "healthy", String),
      { interval: 500, timeout: 120_000 },
    )
    .toBe("healthy");
  const address = (await call("port", id, String(inside))).split("\n")[0];
  return {
    exec: (...command: readonly string[]) => call("exec", id, ...command),
    logs: async () => {
      const { stdout, stderr } = await run(tool, ["logs", id]);
      return stdout + stderr;
    },
    send: (path: string, init?: RequestInit) => fetch(`http://${address}/${path}`, init),
    /** @returns the exit status after SIGTERM to process 1 */
    async stop() {
      await call("stop", id);
      return Number(await call("inspect", "--format", "{{.State.ExitCode}}", id));
    },
  };
};

const withKey = (key: string) => ({
  authorization: `apikey ${key}`,
  "content-type": "application/json",
});

describe("the service in a container", () => {
  test("answers at a published port, to its own key only, without privileges, and stops cleanly", async () => {
    const service = await start(8080, BARE, ["service", "--api-key", KEY]);

    const answers = await Promise.all(
      [KEY, BUILT_IN_API_KEYS.first].map((key) => service.send(POLICY, { headers: withKey(key) })),
    );

    expect(answers.map(({ status }) => status)).toEqual([200, 401]);
    expect(await service.exec("id", "-u")).toBe("1000");
    expect(await service.exec("sh", "-c", "command -v npm || echo none")).toBe("none");
    expect(await service.logs()).toContain("Listens at 0.0.0.0");
    expect(await service.stop()).toBe(0);
  });

  test("keeps its state in a new volume", async () => {
    const volume = await call("volume", "create");
    onTestFinished(async () => {
      await call("volume", "rm", "--force", volume);
    });
    const options = ["--volume", `${volume}:/data`];
    const args = ["service", "--data", "/data", "--api-key", KEY];
    const first = await start(8080, options, args);
    const body = JSON.stringify({ name: "kept" });
    const changed = await first.send(POLICY, { method: "PATCH", headers: withKey(KEY), body });
    expect(changed.status).toBe(200);
    expect(await first.stop()).toBe(0);

    const second = await start(8080, options, args);

    const policy = await (await second.send(POLICY, { headers: withKey(KEY) })).json();
    expect(policy).toMatchObject({ name: "kept" });
  });
});

test("the whole system runs in a container, and takes commands from inside and outside", async () => {
  const system = await start(4747, BARE, ["start", "--no-demo"]);

  const [address = ""] = /http:\/\/127\.0\.0\.1:4747\/\?token=\S+/.exec(await system.logs()) ?? [];
  const token = new URL(address).searchParams.get("token");
  const list = (headers: Record<string, string>) => system.send("commands", { headers });
  const outside = await list({ authorization: `Bearer ${token}` });

  expect([(await list({})).status, outside.status]).toEqual([401, 200]);
  expect(
    await system.exec("skyhook", "console", "--endpoint", "127.0.0.1:4747").catch(String),
  ).toContain("SKYHOOK_TOKEN");
  expect(await system.stop()).toBe(0);
});

test("the demo succeeds in a container", async () => {
  const { stderr } = await run(tool, ["run", "--rm", "skyhook", "start", "--exit"]);
  expect(stderr).toContain("as expected");
});
