import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";
import fifo from "../../support/fixtures/sqs-fifo-event.json" with { type: "json" };
import { updatePolicy } from "../../support/requests.ts";
import { openTableServer } from "../../support/table-server.ts";

/*
 * CPU time of a new sandbox of run-commands until its first command has ended, beside the same AWS clients alone, which
 * do one call each. AWS and the provider are servers in this process, which is not counted. BENCH_NODE names another
 * Node for the sandboxes.
 */

const ROUNDS = 15;
const NODE = process.env.BENCH_NODE ?? process.execPath;
const TABLE = "bench";
const POLICY = { id: 1, name: "nightly", status: "active", action: "volume_snapshot", volumes: [] };

const run = promisify(execFile);
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const timesSchema = z.object({ loadMs: z.number(), callMs: z.number() });

const listen = async (answer: (operation: string, sent: string) => unknown) => {
  const server = createServer(async (request, response) => {
    const operation = String(request.headers["x-amz-target"] ?? "").split(".")[1] ?? "";
    const body = JSON.stringify(answer(operation, await text(request)));
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

const sentSchema = z.object({
  MessageBody: z.string().default(""),
  Entries: z.array(z.unknown()).default([]),
});

const answerOf = (operation: string, sent: string): unknown => {
  const { MessageBody, Entries } = sentSchema.parse(JSON.parse(sent));
  if (operation === "GetParameter") return { Parameter: { Value: "a".repeat(40) } };
  if (operation === "PutEvents") {
    return {
      FailedEntryCount: 0,
      Entries: Entries.map((_, EventId) => ({ EventId: String(EventId) })),
    };
  }
  // The client of SQS checks the digest.
  const MD5OfMessageBody = createHash("md5").update(MessageBody).digest("hex");
  return { MessageId: "00000000-0000-0000-0000-000000000000", MD5OfMessageBody };
};

const folder = mkdtempSync(join(tmpdir(), "skyhook-bench-"));
const servers: Server[] = [];
const table = await openTableServer(TABLE);
try {
  const aws = await listen(answerOf);
  const provider = await listen(() => POLICY);
  servers.push(aws.server, provider.server);
  const accounts = {
    accounts: [
      {
        name: "main",
        base_url: provider.url,
        api_key: { parameter: "/bench/api-key" },
        senders: ["own"],
      },
    ],
  };
  writeFileSync(join(folder, "accounts.json"), JSON.stringify(accounts));
  const env = {
    PATH: process.env.PATH,
    ...table.environment,
    AWS_ENDPOINT_URL: aws.url,
    AWS_LAMBDA_FUNCTION_NAME: "skyhook-bench",
    LAMBDA_TASK_ROOT: folder,
    ACCOUNTS_FILE: "accounts.json",
    TABLE_NAME: TABLE,
    EVENT_BUS_NAME: "bench",
    EVENT_SOURCE: "skyhook",
    STAGE: "bench",
    ATTEMPT_TIMEOUT_MS: "10000",
    COMMAND_QUEUE_URL: `${aws.url}/000000000000/commands.fifo`,
    WAKE_QUEUE_URL: `${aws.url}/000000000000/wake`,
    OWN_SENDER: "000000000000",
    FINGERPRINT_KEY_PARAMETER: "/bench/fingerprint-key",
    DUE_SHARDS: "1",
    NODE_OPTIONS: "--enable-source-maps",
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  };

  let calls = 0;
  /** @throws Error when the handler reports a failed message */
  const callOnce = async (handler: string) => {
    calls += 1;
    const file = join(folder, "event.json");
    const [record] = fifo.Records;
    const body = JSON.stringify(updatePolicy(`bench-${calls}`));
    writeFileSync(file, JSON.stringify({ Records: [{ ...record, body }] }));
    const { stdout, stderr } = await run(NODE, [pathOf("./first-call.mjs"), handler, file], {
      env,
    });
    if (stderr.includes('"itemIdentifier"')) throw new Error(`${stdout}${stderr}`);
    const line = stdout.trim().split("\n").at(-1) ?? "";
    return timesSchema.parse(JSON.parse(line));
  };

  const median = (values: readonly number[]): number =>
    values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
  const ours = pathOf("./handlers/functions/run-commands/handler.mjs");
  const alone = pathOf("./handlers/clients-alone/handler.mjs");
  await callOnce(ours);
  await callOnce(alone);
  const figures: Record<string, number[]> = {};
  const note = (name: string, value: number): void => {
    figures[name] = [...(figures[name] ?? []), value];
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const floor = await callOnce(alone);
    const real = await callOnce(ours);
    note("run-commands: load, ms", real.loadMs);
    note("run-commands: first call, ms", real.callMs);
    note("clients alone: load, ms", floor.loadMs);
    note("clients alone: one call each, ms", floor.callMs);
    note("ratio of loads", real.loadMs / floor.loadMs);
    note(
      "ratio of load and first call",
      (real.loadMs + real.callMs) / (floor.loadMs + floor.callMs),
    );
  }
  const { stdout: version } = await run(NODE, ["--version"]);
  process.stdout.write(`CPU time, median of ${ROUNDS} pairs, Node ${version.trim()}:\n`);
  for (const [name, values] of Object.entries(figures)) {
    const sorted = values.toSorted((one, other) => one - other);
    const spread = `${sorted[0]?.toFixed(2)} to ${sorted.at(-1)?.toFixed(2)}`;
    process.stdout.write(
      `  ${name.padEnd(36)}${median(values).toFixed(2).padStart(8)}   ${spread}\n`,
    );
  }
} finally {
  for (const server of servers) server.close();
  await table.close();
  rmSync(folder, { recursive: true, force: true });
}
