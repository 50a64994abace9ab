import { describe, expect, it } from "vitest";
import * as z from "zod";
import { commandSettingsSchema } from "../../../../functions/settings.ts";
import { baseUrl } from "../../../../lib/config/values.ts";
import {
  readEnvironment,
  readSettings,
  SettingsError,
  wholeNumber,
} from "../../../../lib/platform/lambda/settings.ts";

const GOOD = {
  TABLE_NAME: "ledger",
  COMMAND_QUEUE_URL: "https://sqs.eu-central-1.amazonaws.com/123456789012/commands.fifo",
  WAKE_QUEUE_URL: "https://sqs.eu-central-1.amazonaws.com/123456789012/wake",
  EVENT_BUS_NAME: "skyhook",
  EVENT_SOURCE: "skyhook",
  STAGE: "skyhook-dev",
  OWN_SENDER: "123456789012",
  ACCOUNTS_FILE: "dist/config/accounts.json",
  FINGERPRINT_KEY_PARAMETER: "/skyhook/dev/fingerprint-key",
  ATTEMPT_TIMEOUT_MS: "10000",
  DUE_SHARDS: "4",
};

const errorOf = (work: () => unknown): SettingsError => {
  try {
    work();
  } catch (error) {
    if (error instanceof SettingsError) return error;
  }
  throw new Error("no settings error");
};

const problemOf = (schema: z.ZodType, value: string): string | undefined =>
  z.safeParse(schema, value).error?.issues[0]?.message;

describe("the settings of the functions", () => {
  it("are read with their types", () => {
    const settings = readEnvironment(commandSettingsSchema, {
      ...GOOD,
      LAMBDA_TASK_ROOT: "/var/task",
      HOME: "/root",
    });

    expect(settings).toEqual({
      ...GOOD,
      LAMBDA_TASK_ROOT: "/var/task",
      ATTEMPT_TIMEOUT_MS: 10_000,
      DUE_SHARDS: 4,
    });
  });

  it("names every missing setting in one message", () => {
    const error = errorOf(() => readEnvironment(commandSettingsSchema, {}));

    expect(error.message).toBe(
      "wrong settings: TABLE_NAME (required), EVENT_BUS_NAME (required), EVENT_SOURCE (required), STAGE (required), ACCOUNTS_FILE (required), ATTEMPT_TIMEOUT_MS (required), COMMAND_QUEUE_URL (required), OWN_SENDER (required), FINGERPRINT_KEY_PARAMETER (required), WAKE_QUEUE_URL (required), DUE_SHARDS (required)",
    );
  });

  it.each(Object.keys(GOOD))("counts an empty %s as missing", (name) => {
    const error = errorOf(() => readEnvironment(commandSettingsSchema, { ...GOOD, [name]: "" }));

    expect(error.problems).toEqual([{ path: name, rule: "required" }]);
  });

  it("names each invalid setting once, without its value", () => {
    const values = {
      ATTEMPT_TIMEOUT_MS: "777777",
      COMMAND_QUEUE_URL: "queue-value",
      WAKE_QUEUE_URL: "wake-value",
      DUE_SHARDS: "17",
    };

    const error = errorOf(() => readEnvironment(commandSettingsSchema, { ...GOOD, ...values }));

    expect(error.problems.map(({ path }) => path)).toEqual(Object.keys(values));
    expect(error.message).not.toMatch(/value\b|777777/);
  });

  it("names a setting once even when it breaks two rules", () => {
    const twice = z.object({
      NAME: z.string().min(3, { error: "at least 3" }).regex(/^\d+$/, { error: "digits" }),
    });

    const error = errorOf(() => readSettings(twice, { NAME: "x" }));

    expect(error.problems).toEqual([{ path: "NAME", rule: "at least 3" }]);
  });

  it("checks cross-field rules even when a single setting is invalid", () => {
    const schema = z.object({ A: wholeNumber(0, 9).optional(), B: z.string().optional() });
    const between = () => [{ path: "B", rule: "required with A" }];

    const error = errorOf(() => readSettings(schema, { A: "x" }, between));

    expect(error.message).toBe("wrong settings: A (a whole number), B (required with A)");
  });
});

describe("a whole number as a setting", () => {
  it.each([
    ["10", 10],
    ["0", 0],
    ["99", 99],
  ])("accepts %s", (text, value) => {
    expect(wholeNumber(0, 99).parse(text)).toBe(value);
  });

  it.each(["-1", "1.5", "1e1", "0x1", " 1", "1 ", "one", "１"])("refuses %j", (text) => {
    expect(problemOf(wholeNumber(0, 99), text)).toBe("a whole number");
  });

  it.each(["100", "99999999999999999999"])("refuses %s, which is above its limit", (text) => {
    expect(wholeNumber(0, 99).safeParse(text).success).toBe(false);
  });
});

describe("a base URL", () => {
  it.each(["https://api.example.com", "http://127.0.0.1:4010/", "https://a.example/prefix"])(
    "takes %s",
    (url) => {
      expect(baseUrl().parse(url)).toBe(url);
    },
  );

  it.each(["api.example.com", "ftp://api.example.com", "localhost:4010", "nope"])(
    "refuses %s, which is no http or https URL",
    (url) => {
      expect(problemOf(baseUrl(), url)).toBe("must be an http or https URL");
    },
  );

  it.each([
    "https://user@a.example",
    "https://:pass@a.example",
    "https://a.example?x=1",
    "https://a.example#x",
  ])("refuses %s, which has more than an address", (url) => {
    expect(problemOf(baseUrl(), url)).toBe(
      "must be a URL without user, password, query or fragment",
    );
  });
});
