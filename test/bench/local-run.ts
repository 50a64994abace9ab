import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { startLocal } from "../../lib/exports/local.ts";
import { createMemoryStore } from "../../lib/local/durable-store.ts";
import { openFifoQueue } from "../../lib/local/fifo-queue.ts";
import { createSystemClock, createSystemRandom } from "../../lib/platform/system.ts";
import { builtInState, type State } from "../../lib/service/state/state.ts";

/*
 * `npm run bench:local` measures the CPU time of a local run in memory, embedded service and sender included, in a
 * process of its own: for commands that are all sent at once, and for 100 commands a second. Each has one task. The
 * FIFO queue is also measured alone.
 */

const AT_ONCE = [1_000, 2_000, 4_000, 8_000];
const STEADY = { count: 6_000, perSecond: 100 };
const TASK_MS = 5_000;
const LIMIT_MS = 600_000;
const PLACE = { project_id: 1_234_567, region_id: 76 };

const nameOf = (index: number): string => `container-${index}`;

/** Copies of a container, so that no two commands share a lane. */
const withContainers = (count: number): State => {
  const state = builtInState();
  const [container] = state.containers;
  if (!container) throw new Error("the built-in state has no container");
  const containers = Array.from({ length: count }, (_, index) => ({
    ...container,
    name: nameOf(index),
  }));
  return { ...state, containers };
};

/** @param perSecond rate of the commands; Infinity: all at once */
const runCommands = async (count: number, perSecond: number) => {
  const local = { name: "local", requests_per_second: 1_000, senders: ["own"] };
  const skyhook = await startLocal({
    accounts: JSON.stringify({ accounts: [local] }),
    service: { seed: withContainers(count), taskDurationMs: TASK_MS },
  });
  const send = (index: number) =>
    skyhook.send({
      operation: "update-container",
      params: { ...PLACE, container_name: nameOf(index) },
      body: { description: "measured" },
    });
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1_000;
  let left = count;
  const ended = skyhook.waitFor(["CommandSucceeded", "CommandFailed", "CommandRejected"], {
    where: (event) => {
      if (event["detail-type"] !== "CommandSucceeded") throw new Error(JSON.stringify(event));
      left -= 1;
      return left === 0;
    },
    timeoutMs: LIMIT_MS,
  });
  const sends: Promise<unknown>[] = [];
  for (let index = 0; index < count; index += 1) {
    const aheadMs = 1_000 * (index / perSecond - seconds());
    if (aheadMs > 1) await pause(aheadMs);
    sends.push(send(index));
  }
  await Promise.all(sends);
  const sentSeconds = seconds();
  await ended;
  const endedSeconds = seconds();
  const cpuSeconds = secondsOf(process.cpuUsage(cpu));
  await skyhook.stop();
  return {
    cpuSeconds,
    sentSeconds,
    seconds: endedSeconds,
  };
};

const secondsOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000_000;

/** CPU time of a FIFO queue that gets all messages at once and hands them out, ten at a time. */
const runQueue = async (count: number): Promise<number> => {
  const queue = await openFifoQueue({
    map: createMemoryStore().map("measured"),
    clock: createSystemClock(),
    random: createSystemRandom(),
    maxReceiveCount: 5,
  });
  const before = process.cpuUsage();
  const ids = Array.from({ length: count }, (_, index) => String(index));
  await Promise.all(
    ids.map((id) => queue.send({ body: "measured", groupId: id, deduplicationId: id })),
  );
  while (queue.size() > 0) {
    for (const { receiptHandle } of await queue.receive(10, LIMIT_MS)) {
      await queue.acknowledge(receiptHandle);
    }
  }
  return secondsOf(process.cpuUsage(before));
};

const resultSchema = z.object({
  cpuSeconds: z.number(),
  sentSeconds: z.number(),
  seconds: z.number(),
});

const measure = async (count: number, perSecond = Number.POSITIVE_INFINITY) => {
  const child = fork(fileURLToPath(import.meta.url), [String(count), String(perSecond)]);
  const [message] = await once(child, "message");
  return resultSchema.parse(message);
};

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Row of a table. Growth is the exponent of the CPU time since the first row. */
const printRow = (name: string, count: number, cpuSeconds: number, first: number): void => {
  const each = (1_000 * cpuSeconds) / count;
  const growth = Math.log(cpuSeconds / first) / Math.log(count / (AT_ONCE[0] ?? count));
  print(
    `${name.padEnd(12)}${String(count).padStart(6)} at once: ${cpuSeconds.toFixed(2).padStart(6)} s of CPU, ` +
      `${each.toFixed(2).padStart(5)} ms each, growth ${Number.isNaN(growth) ? "-" : growth.toFixed(2)}`,
  );
};

const compareGrowth = async (
  name: string,
  run: (count: number) => Promise<number>,
): Promise<void> => {
  let first: number | undefined;
  for (const count of AT_ONCE) {
    const cpuSeconds = await run(count);
    first ??= cpuSeconds;
    printRow(name, count, cpuSeconds, first);
  }
};

const compare = async (): Promise<void> => {
  // The first run also compiles the code.
  await runQueue(Math.max(...AT_ONCE));
  await compareGrowth("queue alone", runQueue);
  await compareGrowth("local run", async (count) => (await measure(count)).cpuSeconds);
  const { count, perSecond } = STEADY;
  const { cpuSeconds, sentSeconds, seconds } = await measure(count, perSecond);
  print(
    `${perSecond} commands/s for ${sentSeconds.toFixed(0)} s: ${Math.round((100 * cpuSeconds) / seconds)} % of a core, ` +
      `last end ${(seconds - sentSeconds - TASK_MS / 1_000).toFixed(1)} s after the end of the last task`,
  );
};

const [count, perSecond] = process.argv.slice(2).map(Number);
if (count !== undefined && perSecond !== undefined)
  process.send?.(await runCommands(count, perSecond));
else await compare();
