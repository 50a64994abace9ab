import { describe, expect, it } from "vitest";
import { readStartSettings, type StartFlags } from "../../../lib/cli/start-settings.ts";
import { SettingsError } from "../../../lib/platform/lambda/settings.ts";

const read = (flags: Partial<StartFlags>, environment: Record<string, string> = {}) =>
  readStartSettings({ demo: true, lists: true, ...flags }, environment);

const problemsOf = (flags: Partial<StartFlags>, environment: Record<string, string> = {}) => {
  try {
    read(flags, environment);
  } catch (error) {
    if (error instanceof SettingsError) {
      return error.problems.map(({ path, rule }) => `${path}: ${rule}`);
    }
  }
  throw new Error("no settings error");
};

const REACH = { address: "0.0.0.0", allowedHosts: ["skyhook", "other"] };
const REMOTE = { baseUrl: "https://api.example.com" };

describe("the settings of a local run", () => {
  it("default to the embedded service, memory and the default port", () => {
    expect(read({})).toEqual({
      directory: undefined,
      gatewayPort: undefined,
      eventSource: "skyhook",
      jobs: { thresholdsFile: undefined, watchlistFile: undefined, aiTasks: undefined },
      provider: { kind: "embedded", port: 0, reach: {}, taskDurationMs: 1_500 },
      reach: {},
      teams: { accountsFile: undefined, reactionsFile: undefined },
    });
  });

  it("accept each flag", () => {
    const settings = read({
      data: "state",
      port: "4000",
      servicePort: "4001",
      taskSeconds: "0.25",
      eventSource: "acme.skyhook",
      accounts: "teams.yaml",
      reactions: "rules.yaml",
      thresholds: "mine.yaml",
      watchlist: "prices.json",
      aiTasks: "transcription",
      listen: "0.0.0.0",
      allowHost: "skyhook,other",
    });

    expect(settings).toEqual({
      directory: "state",
      gatewayPort: 4_000,
      eventSource: "acme.skyhook",
      jobs: {
        thresholdsFile: "mine.yaml",
        watchlistFile: "prices.json",
        aiTasks: "transcription",
      },
      provider: { kind: "embedded", port: 4_001, reach: REACH, taskDurationMs: 250 },
      reach: REACH,
      teams: { accountsFile: "teams.yaml", reactionsFile: "rules.yaml" },
    });
  });

  it("take faults for the embedded service", () => {
    const { provider } = read({
      fault: ["update-pool=lost-reply-after:20%", "*=reset:1x"],
      latency: "200ms..2s",
      faultSeed: "7",
    });

    expect(provider).toMatchObject({
      faults: {
        rules: [
          { operation: "update-pool", kind: "lost-reply-after", probability: 0.2 },
          { operation: "*", kind: "reset", times: 1 },
        ],
        latency: { fromMs: 200, toMs: 2_000 },
        seed: 7,
      },
    });
  });

  it("describe a real provider with its address and its key", async () => {
    const { provider } = read(
      {
        ...REMOTE,
        taskPath: "/cloud/v1/tasks/{task_id}",
        poolPath: "/cloud/v2/lbpools/{project_id}/{region_id}/{pool_id}",
        lists: false,
      },
      { SKYHOOK_API_KEY: "1_hush" },
    );

    expect(provider).toMatchObject({
      kind: "remote",
      baseUrl: "https://api.example.com",
      paths: {
        "get-task": "/cloud/v1/tasks/{task_id}",
        "update-pool": "/cloud/v2/lbpools/{project_id}/{region_id}/{pool_id}",
      },
      canList: false,
    });
    expect(provider.kind === "remote" && (await provider.apiKey())).toBe("1_hush");
  });

  it("request AI tasks from a real provider only if a setting enables it", () => {
    const environment = { SKYHOOK_API_KEY: "1_hush" };

    expect(read(REMOTE, environment).jobs.aiTasks).toBeUndefined();
    expect(read({ ...REMOTE, aiTasks: "all" }, environment).jobs.aiTasks).toBe("all");
    expect(problemsOf({ aiTasks: "some" })).toEqual([
      "--ai-tasks: one of all, transcription, content-moderation",
    ]);
  });

  it("do not require SKYHOOK_API_KEY with a parameter, even if the variable is empty", () => {
    const settings = read({ ...REMOTE, apiKeyParameter: "/key" }, { SKYHOOK_API_KEY: "" });

    expect(settings.provider.kind).toBe("remote");
  });

  it("ignore a key in the environment of an embedded run", () => {
    expect(read({}, { SKYHOOK_API_KEY: "1_hush" }).provider.kind).toBe("embedded");
  });

  it("are refused with every problem in one message, without values", () => {
    const flags = {
      port: "99999",
      taskSeconds: "soon",
      eventSource: "hush hush",
      baseUrl: "https://me:hush@api.example.com",
      taskPath: "/hush",
      poolPath: "/hush",
      data: "",
    };

    const problems = problemsOf(flags, { SKYHOOK_API_KEY: "hush hush" });

    expect(problems).toEqual([
      "--data: must not be empty",
      "--port: at most 65535",
      "--task-seconds: a number of seconds",
      "--event-source: a source name such as skyhook: at most 256 letters, digits, _ . / -",
      "--base-url: must be a URL without user, password, query or fragment",
      "--task-path: one of /v1/tasks/{task_id}, /cloud/v1/tasks/{task_id}",
      "--pool-path: one of /cloud/v1/lbpools/{project_id}/{region_id}/{pool_id}, /cloud/v2/lbpools/{project_id}/{region_id}/{pool_id}",
      "SKYHOOK_API_KEY: a key without spaces or line breaks",
    ]);
  });

  it.each([
    [
      "a provider without its key, also beside another mistake",
      { ...REMOTE, port: "x" },
      {},
      [
        "--port: a whole number",
        "SKYHOOK_API_KEY: required with --base-url, unless --api-key-parameter names an SSM parameter",
      ],
    ],
    [
      "two keys",
      { ...REMOTE, apiKeyParameter: "/key" },
      { SKYHOOK_API_KEY: "1_hush" },
      ["--api-key-parameter: not allowed with SKYHOOK_API_KEY: give the key only once"],
    ],
    [
      "half a provider",
      {
        apiKeyParameter: "/key",
        taskPath: "/v1/tasks/{task_id}",
        poolPath: "/cloud/v1/lbpools/{project_id}/{region_id}/{pool_id}",
        lists: false,
      },
      {},
      [
        "--api-key-parameter: requires --base-url",
        "--task-path: requires --base-url",
        "--pool-path: requires --base-url",
        "--no-lists: requires --base-url",
      ],
    ],
    [
      "settings of the embedded service for a real provider",
      {
        ...REMOTE,
        servicePort: "4001",
        taskSeconds: "1",
        fault: ["*=reset"],
        latency: "1s",
        faultSeed: "7",
      },
      { SKYHOOK_API_KEY: "1_hush" },
      [
        "--service-port: not allowed with --base-url: it configures the embedded service",
        "--task-seconds: not allowed with --base-url: it configures the embedded service",
        "--fault: not allowed with --base-url: it configures the embedded service",
        "--latency: not allowed with --base-url: it configures the embedded service",
        "--fault-seed: not allowed with --base-url: it configures the embedded service",
      ],
    ],
  ])("refuse %s", (_case, flags, environment, problems) => {
    expect(problemsOf(flags, environment)).toEqual(problems);
  });

  it.each(["-1", "4e3", "1.5", " 80"])("refuse the port %j", (port) => {
    expect(problemsOf({ port })).toEqual(["--port: a whole number"]);
  });

  it.each(["-1", "1,5", "1e3", ".5", "Infinity"])("refuse %j task seconds", (taskSeconds) => {
    expect(problemsOf({ taskSeconds })).toEqual(["--task-seconds: a number of seconds"]);
  });
});
