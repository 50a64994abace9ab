import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { composeJob, readPackagedJson } from "../../../functions/compose.ts";
import { SettingsError } from "../../../lib/platform/lambda/settings.ts";

const ACCOUNTS = {
  accounts: ["main", "spare"].map((name) => ({
    name,
    base_url: "https://api.example.com",
    api_key: { parameter: `/keys/${name}` },
    senders: ["own"],
  })),
};

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "skyhook-task-root-"));
  await writeFile(join(root, "accounts.json"), JSON.stringify(ACCOUNTS));
});
afterEach(() => rm(root, { recursive: true }));

const settings = (JOB_ACCOUNT: string) => ({
  LAMBDA_TASK_ROOT: root,
  TABLE_NAME: "ledger",
  EVENT_BUS_NAME: "events",
  EVENT_SOURCE: "skyhook",
  STAGE: "skyhook-dev",
  ACCOUNTS_FILE: "accounts.json",
  ATTEMPT_TIMEOUT_MS: 10_000,
  JOB_ACCOUNT,
});

const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
  }
  throw new Error("no settings error");
};

test("a job uses the packaged account in its setting", () => {
  expect(composeJob(settings("spare")).config.jobAccount).toBe("spare");
});

test("a job with an unknown account does not start, and names the setting", () => {
  const message = messageOf(() => composeJob(settings("other")));

  expect(message).toBe("wrong settings: JOB_ACCOUNT (no such account in ACCOUNTS_FILE)");
});

test("a file path is relative to Lambda's folder of the function", () => {
  expect(readPackagedJson(root, "accounts.json", "ACCOUNTS_FILE")).toEqual(ACCOUNTS);
});

test.each([
  ["that is not there", "none.json"],
  ["that holds no JSON", "broken.json"],
])("a file %s is reported under the name of its setting", async (_what, file) => {
  await writeFile(join(root, "broken.json"), "{");

  const message = messageOf(() => readPackagedJson(root, file, "REACTIONS_FILE"));

  expect(message).toBe("wrong settings: REACTIONS_FILE (no such JSON file in the package)");
});
