import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { LOCAL_SENDER } from "../../../lib/local/local-sender.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../lib/platform/deployment.ts";
import { BATCH_SIZE, type Part, resultSchema } from "./worker.ts";

/*
 * Measures the CPU time of a command in the worker: the deployed run-commands handler beside a handler of Powertools
 * that sends the same request. Both have the same table and the same provider, in another process, and no bus.
 */

const PAIRS = 15;
const BATCHES = 20;
const WARM_UP_BATCHES = 60;

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const folder = resolve("dist", "bench", "worker-cpu");
const ACCOUNTS_FILE = "accounts.json";
const TABLE_NAME = "skyhook-ledger";

const shared = {
  ...process.env,
  // Suppresses the SDK's advice to upgrade Node.
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  TABLE_NAME,
};
const surroundings = fork(pathOf("./surroundings.mjs"), { env: shared });
const [started] = await once(surroundings, "message");
const { url, environment } = z
  .object({ url: z.string(), environment: z.record(z.string(), z.string()) })
  .parse(started);

await mkdir(folder, { recursive: true });
const account = {
  name: "main",
  base_url: url,
  api_key: { parameter: "/skyhook/api-key" },
  senders: ["own"],
  // The most, so that no command waits for a permit.
  requests_per_second: 1_000,
};
await writeFile(join(folder, ACCOUNTS_FILE), JSON.stringify({ accounts: [account] }));

const env = {
  ...shared,
  ...environment,
  // As long as on Lambda. Its signature covers it.
  AWS_SESSION_TOKEN: "t".repeat(1_000),
  NODE_OPTIONS: "--enable-source-maps",
  LAMBDA_TASK_ROOT: folder,
  PROVIDER_URL: url,
  ACCOUNTS_FILE,
  EVENT_BUS_NAME: "skyhook",
  EVENT_SOURCE: "skyhook",
  STAGE: "skyhook-bench",
  ATTEMPT_TIMEOUT_MS: String(ATTEMPT_TIMEOUT_MS),
  COMMAND_QUEUE_URL: `${url}/commands.fifo`,
  WAKE_QUEUE_URL: `${url}/wake`,
  OWN_SENDER: LOCAL_SENDER,
  FINGERPRINT_KEY_PARAMETER: "/skyhook/fingerprint-key",
  DUE_SHARDS: "1",
};

const startProcess = (name: string) => {
  // Log lines go nowhere.
  const child = fork(pathOf(`./${name}.mjs`), {
    env,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.once("exit", (status) => {
    // A process that is stopped has no status.
    if (status) throw new Error(`${name} failed, as its error above says`);
  });
  return child;
};

/** The median with the smallest and the largest value. */
const spreadOf = (values: readonly number[], digits: number): string => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, middle, high] = [0, (sorted.length - 1) / 2, sorted.length - 1].map((at) =>
    (sorted[at] ?? Number.NaN).toFixed(digits),
  );
  return `${middle?.padStart(8)}   ${low} to ${high}`;
};

const callsSchema = z.record(z.string(), z.array(z.number()));
const calls = startProcess("calls-worker");
const [measured] = await once(calls, "message");
print(`CPU of a call of DynamoDB, µs: median and spread, Node ${process.version}`);
for (const [name, times] of Object.entries(callsSchema.parse(measured))) {
  print(`  ${name.padEnd(26)}${spreadOf(times, 0)}`);
}
calls.kill();

const startWorker = async (name: string) => {
  const child = startProcess(name);
  await once(child, "message");
  let first = 1;
  return {
    /** CPU time of a command, µs. */
    async run(batches: number): Promise<number> {
      const part: Part = { first, batches };
      first += batches * BATCH_SIZE;
      child.send(part);
      const [message] = await once(child, "message");
      return resultSchema.parse(message).microseconds;
    },
    stop: () => child.kill(),
  };
};

const skyhook = await startWorker("skyhook-worker");
const powertools = await startWorker("powertools-worker");
await Promise.all([skyhook.run(WARM_UP_BATCHES), powertools.run(WARM_UP_BATCHES)]);

const pairs: { readonly ours: number; readonly theirs: number }[] = [];
while (pairs.length < PAIRS) {
  // The first of a pair alternates, so that other load of the machine affects both alike.
  const isOdd = pairs.length % 2 === 1;
  const early = isOdd ? await powertools.run(BATCHES) : undefined;
  const ours = await skyhook.run(BATCHES);
  pairs.push({ ours, theirs: early ?? (await powertools.run(BATCHES)) });
}
skyhook.stop();
powertools.stop();
surroundings.kill();

print(
  `CPU of a command in the worker, µs: median and spread of ${PAIRS} pairs of ${BATCHES * BATCH_SIZE} commands, Node ${process.version}`,
);
const [ours, theirs] = [pairs.map((pair) => pair.ours), pairs.map((pair) => pair.theirs)];
print(`  run-commands              ${spreadOf(ours, 0)}`);
print(`  Powertools                ${spreadOf(theirs, 0)}`);
const ratios = pairs.map((pair) => pair.ours / pair.theirs);
print(`  ratio                     ${spreadOf(ratios, 2)}`);
