import { describe, expect, it } from "vitest";
import { type ProviderFlags, readProviderSettings } from "../../../lib/cli/provider.ts";

const ENVIRONMENT = {
  SKYHOOK_BASE_URL: "https://api.example.com",
  SKYHOOK_API_KEY: "1$hush",
};

describe("the settings of a read", () => {
  it("come from the environment", () => {
    expect(readProviderSettings({}, ENVIRONMENT)).toEqual({
      baseUrl: "https://api.example.com",
      apiKey: "1$hush",
      paths: { "get-task": "/v1/tasks/{task_id}" },
    });
  });

  it("prefer an address and a task path from flags", () => {
    const flags = { baseUrl: "http://127.0.0.1:4000", taskPath: "/cloud/v1/tasks/{task_id}" };

    expect(readProviderSettings(flags, ENVIRONMENT)).toMatchObject({
      baseUrl: "http://127.0.0.1:4000",
      paths: { "get-task": "/cloud/v1/tasks/{task_id}" },
    });
  });

  it.each<[string, ProviderFlags, Readonly<Record<string, string>>, readonly string[]]>([
    [
      "nothing is given",
      {},
      {},
      ["--base-url or SKYHOOK_BASE_URL: required", "SKYHOOK_API_KEY: required"],
    ],
    [
      "the environment has empty values",
      {},
      { SKYHOOK_BASE_URL: "", SKYHOOK_API_KEY: "" },
      ["--base-url or SKYHOOK_BASE_URL: required", "SKYHOOK_API_KEY: required"],
    ],
    [
      "every value is wrong",
      { baseUrl: "https://hush:hush@a.example", taskPath: "hush" },
      { SKYHOOK_API_KEY: "1_hush\n" },
      [
        "--base-url or SKYHOOK_BASE_URL: must be a URL without user, password, query or fragment",
        "SKYHOOK_API_KEY: a key without spaces or line breaks",
        "--task-path: one of /v1/tasks/{task_id}, /cloud/v1/tasks/{task_id}",
      ],
    ],
  ])("are refused with every reason and without values: %s", (_case, flags, environment, rules) => {
    expect(() => readProviderSettings(flags, environment)).toThrow(
      expect.objectContaining({
        name: "SettingsError",
        problems: rules.map((rule) => {
          const [path, text] = rule.split(": ");
          return { path, rule: text };
        }),
      }),
    );
  });
});
