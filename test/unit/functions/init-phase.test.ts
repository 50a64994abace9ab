import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { lambdaContext } from "../../../lib/local/aws-events.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const folder = mkdtempSync(join(tmpdir(), "skyhook-init-"));
const context = lambdaContext("skyhook-dev", 60_000, {
  clock: createVirtualClock(),
  random: createSeededRandom(),
});

/** Statuses of the next answers of SSM; 200 after them. A status of 400 is not retried by the SDK. */
let refusals: number[] = [];
let reads = 0;
const ssm = createServer((request, response) => {
  request.resume();
  reads += 1;
  const status = refusals.shift() ?? 200;
  const body =
    status === 200 ? { Parameter: { Value: "k".repeat(40) } } : { __type: "AccessDenied" };
  response.writeHead(status, { "content-type": "application/x-amz-json-1.1" });
  response.end(JSON.stringify(body));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => ssm.listen(0, "127.0.0.1", resolve));
  const accounts = {
    accounts: [
      {
        name: "main",
        base_url: "http://127.0.0.1:1",
        api_key: { parameter: "/key" },
        senders: ["own"],
      },
    ],
  };
  writeFileSync(join(folder, "accounts.json"), JSON.stringify(accounts));
  const variables = {
    AWS_ENDPOINT_URL_SSM: `http://127.0.0.1:${(ssm.address() as AddressInfo).port}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    LAMBDA_TASK_ROOT: folder,
    ACCOUNTS_FILE: "accounts.json",
    TABLE_NAME: "table",
    EVENT_BUS_NAME: "bus",
    EVENT_SOURCE: "skyhook",
    STAGE: "skyhook-test",
    ATTEMPT_TIMEOUT_MS: "10000",
    COMMAND_QUEUE_URL: "http://127.0.0.1:1/commands.fifo",
    WAKE_QUEUE_URL: "http://127.0.0.1:1/wake",
    OWN_SENDER: "000000000000",
    FINGERPRINT_KEY_PARAMETER: "/fingerprint-key",
    DUE_SHARDS: "1",
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
});
afterAll(() => {
  vi.unstubAllEnvs();
  ssm.close();
  rmSync(folder, { recursive: true });
});

describe("the init phase of run-commands", () => {
  beforeEach(() => {
    vi.resetModules();
    reads = 0;
    refusals = [];
  });

  /** The handler of a new sandbox, and its answer to a batch without messages. */
  const newSandbox = async () => {
    const { handler } = await import("../../../functions/run-commands/handler.ts");
    return { call: () => handler({ Records: [] }, context) };
  };

  it("reads the parameter, which no call reads again", async () => {
    const sandbox = await newSandbox();
    expect(reads).toBe(1);

    await sandbox.call();
    await sandbox.call();

    expect(reads).toBe(1);
  });

  it("may fail: the first call reads the parameter again", async () => {
    refusals = [400];
    const sandbox = await newSandbox();
    expect(reads).toBe(1);

    expect(await sandbox.call()).toEqual({ batchItemFailures: [] });
    expect(reads).toBe(2);
  });

  it("and a failed first call leave the sandbox usable", async () => {
    refusals = [400, 400];
    const sandbox = await newSandbox();

    await expect(sandbox.call()).rejects.toThrow("secret /fingerprint-key cannot be read");
    expect(await sandbox.call()).toEqual({ batchItemFailures: [] });
    expect(reads).toBe(3);
  });
});
