import { createHash, createHmac } from "node:crypto";
import { inspect } from "node:util";
import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createCapacityMeter } from "../../../../lib/platform/aws/capacity-meter.ts";
import {
  createDynamodbCall,
  type DynamodbCallOptions,
} from "../../../../lib/platform/aws/dynamodb-calls.ts";

interface Sent {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 10, 25, 12);
const read = { TableName: "ledger", Key: { pk: { S: "a" } } };
const found: Reply = { status: 200, body: {} };
const refusal = (name: string, status = 400): Reply => ({
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "in the words of AWS" },
});
const brokenConnection = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

/** A call over a handler that gives these replies in turn, the last one again and again. */
const open = (
  replies: readonly [Reply | Error, ...(Reply | Error)[]],
  config: DynamoDBClientConfig = {},
  { onConsumed }: Pick<DynamodbCallOptions, "onConsumed"> = {},
) => {
  const sent: Sent[] = [];
  const handle = async (request: Sent) => {
    sent.push(request);
    const reply = replies[Math.min(sent.length, replies.length) - 1] ?? replies[0];
    if (reply instanceof Error) throw reply;
    const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
    return {
      response: {
        statusCode: reply.status,
        headers: { ...reply.headers },
        body: Buffer.from(text),
      },
    };
  };
  const client = new DynamoDBClient({ maxAttempts: 3, requestHandler: { handle }, ...config });
  const call = createDynamodbCall({ client, tableName: "ledger", onConsumed });
  return {
    sent,
    call,
    /** Lets the pauses between attempts pass. @returns the error, and the time that passed, ms */
    async fails() {
      const outcome = call("GetItem", read).then(
        () => undefined,
        (error: unknown) => error,
      );
      await vi.runAllTimersAsync();
      return { error: await outcome, tookMs: Date.now() - NOW };
    },
    async succeeds() {
      const outcome = call("GetItem", read);
      await vi.runAllTimersAsync();
      return outcome;
    },
  };
};

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ["Date", "setTimeout", "clearTimeout"] });
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  vi.stubEnv("AWS_REGION", "eu-central-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKID");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_SESSION_TOKEN", "token");
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe("the signature of a request", () => {
  const hmac = (key: string | Buffer, text: string) =>
    createHmac("sha256", key).update(text).digest();
  const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");

  /** The signature as AWS computes it: IAM user guide, "Create a signed AWS API request". */
  const signatureOf = ({ headers, body }: Sent, secret: string): string => {
    const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? "")?.[1] ?? "";
    const lines = names.split(";").map((name) => `${name}:${headers[name]}\n`);
    const request = `POST\n/\n\n${lines.join("")}\n${names}\n${sha256(body)}`;
    const time = headers["x-amz-date"] ?? "";
    const scope = [time.slice(0, 8), "eu-central-1", "dynamodb", "aws4_request"];
    const key = scope.reduce<string | Buffer>(hmac, `AWS4${secret}`);
    const text = ["AWS4-HMAC-SHA256", time, scope.join("/"), sha256(request)].join("\n");
    return hmac(key, text).toString("hex");
  };

  test("is the one that AWS computes, over target, time, body and session token", async () => {
    const { call, sent } = open([found]);

    await call("GetItem", read);

    const [request] = sent;
    expect(request?.headers).toMatchObject({
      host: "dynamodb.eu-central-1.amazonaws.com",
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": "DynamoDB_20120810.GetItem",
      "x-amz-date": "20261125T120000Z",
      "x-amz-security-token": "token",
    });
    const authorization = request?.headers.authorization ?? "";
    expect(authorization).toMatch(
      /Credential=AKID\/20261125\/eu-central-1\/dynamodb\/aws4_request/,
    );
    expect(authorization).toMatch(
      /SignedHeaders=.*host;x-amz-date;x-amz-security-token;x-amz-target,/,
    );
    expect(request && authorization.endsWith(`Signature=${signatureOf(request, "secret")}`)).toBe(
      true,
    );
  });

  test("has the credentials of the environment, or those of a provider until they expire", async () => {
    let calls = 0;
    const credentials = async () => {
      calls += 1;
      const expiration = new Date(Date.now() + HOUR_MS);
      return { accessKeyId: `KEY${calls}`, secretAccessKey: "s", expiration };
    };
    const { call, sent } = open([found], { credentials });

    await call("GetItem", read);
    await call("GetItem", read);
    vi.setSystemTime(NOW + HOUR_MS);
    await call("GetItem", read);

    const keys = sent.map(
      ({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? "")?.[1],
    );
    expect(keys).toEqual(["KEY1", "KEY1", "KEY2"]);
  });

  test("is missing without credentials: nothing is sent", async () => {
    const credentials = async () => {
      throw Object.assign(new Error("none"), { name: "CredentialsProviderError" });
    };
    const { fails, sent } = open([found], { credentials });

    expect((await fails()).error).toMatchObject({ name: "CredentialsProviderError" });
    expect(sent).toEqual([]);
  });
});

describe("the endpoint", () => {
  test.each([
    [{}, "https://dynamodb.eu-central-1.amazonaws.com:"],
    [{ AWS_REGION: "cn-north-1" }, "https://dynamodb.cn-north-1.amazonaws.com.cn:"],
    [
      { AWS_USE_FIPS_ENDPOINT: "true", AWS_REGION: "us-east-1" },
      "https://dynamodb-fips.us-east-1.amazonaws.com:",
    ],
    [{ AWS_ENDPOINT_URL: "http://127.0.0.1:4566" }, "http://127.0.0.1:4566"],
    [
      {
        AWS_ENDPOINT_URL: "http://127.0.0.1:1",
        AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:8000",
      },
      "http://127.0.0.1:8000",
    ],
  ])("with %j is %s", async (environment, expected) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const { call, sent } = open([found]);

    await call("GetItem", read);

    const [{ protocol, hostname, port = "", headers } = {}] = sent;
    expect(`${protocol}//${hostname}:${port}`).toBe(expected);
    expect(`${protocol}//${headers?.host}`).toBe(expected.replace(/:$/, ""));
  });

  test("without a region is an error: nothing is sent", async () => {
    vi.stubEnv("AWS_REGION", undefined);
    vi.stubEnv("AWS_CONFIG_FILE", "/dev/null");
    const { call, sent } = open([found]);

    await expect(call("GetItem", read)).rejects.toThrow("Region is missing");
    expect(sent).toEqual([]);
  });
});

describe("a call", () => {
  test.each([
    ["ProvisionedThroughputExceededException", 400],
    ["ThrottlingException", 400],
    ["RequestLimitExceeded", 400],
    ["InternalServerError", 500],
    ["ServiceUnavailable", 503],
  ])("is sent again after %s, and fails with it after three attempts", async (name, status) => {
    const passing = open([refusal(name, status), refusal(name, status), found]);
    const lasting = open([refusal(name, status)]);

    expect(await passing.succeeds()).toEqual({});
    const { error } = await lasting.fails();

    expect(passing.sent).toHaveLength(3);
    expect(lasting.sent).toHaveLength(3);
    const $metadata = { httpStatusCode: status, attempts: 3 };
    expect(error).toMatchObject({ name, message: "in the words of AWS", $metadata });
  });

  test.each([
    ["a broken connection", brokenConnection],
    ["an error page of a proxy", { status: 502, body: "<html>" }],
    ["an error without a text", { status: 500, body: "null" }],
  ])("is sent again after %s", async (_what, failure) => {
    const { succeeds, sent } = open([failure, found]);

    expect(await succeeds()).toEqual({});
    expect(sent).toHaveLength(2);
  });

  test.each(["ValidationException", "AccessDeniedException", "ResourceNotFoundException"])(
    "fails with %s at once",
    async (name) => {
      const { fails, sent } = open([refusal(name)]);

      expect(await fails()).toMatchObject({ error: { name, $fault: "client" }, tookMs: 0 });
      expect(sent).toHaveLength(1);
    },
  );

  test("pauses before each retry, at random and longer each time, longest when throttled", async () => {
    const failing = refusal("InternalServerError", 500);
    const pauseOf = async (reply: Reply, retries: 1 | 2) => {
      vi.setSystemTime(NOW);
      return (await open([reply], { maxAttempts: retries + 1 }).fails()).tookMs;
    };

    const [first, both] = [await pauseOf(failing, 1), await pauseOf(failing, 2)];
    const throttled = await pauseOf(refusal("ThrottlingException"), 1);
    vi.spyOn(Math, "random").mockReturnValue(0);
    const shortest = await pauseOf(failing, 2);

    expect(first).toBeGreaterThan(0);
    expect(both - first).toBeGreaterThan(first);
    expect(throttled).toBeGreaterThan(both);
    expect(shortest).toBe(0);
  });

  test("is not sent again while most calls fail", async () => {
    const replies: [Reply] = [refusal("InternalServerError", 500)];
    const { call, fails, sent } = open(replies);
    const callMany = async () => {
      const calls = Array.from({ length: 100 }, () => call("GetItem", read).catch(() => {}));
      await vi.runAllTimersAsync();
      await Promise.all(calls);
    };

    await callMany();
    const whileFailing = sent.length;
    replies[0] = found;
    await callMany();
    replies[0] = refusal("InternalServerError", 500);
    await fails();

    expect(whileFailing).toBeLessThan(150);
    expect(sent.length - whileFailing - 100).toBe(3);
  });

  test("of which the reply is not JSON fails without its text", async () => {
    const { fails, sent } = open([{ status: 200, body: '{"pull_secret": hush}' }]);

    const { error } = await fails();

    expect(inspect(error)).toContain("GetItem: the reply of DynamoDB is not JSON");
    expect(inspect(error)).not.toContain("pull_secret");
    expect(sent).toHaveLength(1);
  });
});

describe("a machine with a wrong clock", () => {
  const date = new Date(NOW - HOUR_MS).toUTCString();

  test("signs again with AWS's time after AWS has refused its own, and keeps that time", async () => {
    const late = { ...refusal("InvalidSignatureException"), headers: { date } };
    const { succeeds, call, sent } = open([late, { ...found, headers: { date } }]);

    await succeeds();
    await call("GetItem", read);

    const times = sent.map(({ headers }) => headers["x-amz-date"]);
    expect(times).toEqual(["20261125T120000Z", "20261125T110000Z", "20261125T110000Z"]);
  });

  test("takes a failed condition as the result of its only attempt", async () => {
    const failed = { ...refusal("ConditionalCheckFailedException"), headers: { date } };
    const { fails, sent } = open([failed]);

    expect((await fails()).error).toMatchObject({ $metadata: { attempts: 1 } });
    expect(sent).toHaveLength(1);
  });
});

test("capacity units are asked for and counted only for a meter", async () => {
  const { onConsumed, units } = createCapacityMeter();
  const consumed = { status: 200, body: { ConsumedCapacity: { CapacityUnits: 1.5 } } };
  const metered = open([consumed], {}, { onConsumed });
  const plain = open([consumed]);
  const bodiesOf = (sent: readonly Sent[]) => sent.map(({ body }) => JSON.parse(body.toString()));

  await metered.call("GetItem", read);
  await metered.call("PutItem", { TableName: "ledger", Item: {} });
  await plain.call("GetItem", read);

  expect(units()).toEqual({ read: 1.5, write: 1.5 });
  expect(bodiesOf(metered.sent)[0]).toEqual({ ...read, ReturnConsumedCapacity: "TOTAL" });
  expect(bodiesOf(plain.sent)).toEqual([read]);
});
