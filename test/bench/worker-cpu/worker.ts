import { randomUUID } from "node:crypto";
import type { Context, SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as z from "zod";
import { fifoQueueEvent, lambdaContext } from "../../../lib/local/aws-events.ts";
import { deployment } from "../../../lib/platform/deployment.ts";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";

/** A part of the work: commands by number, in full batches. */
const partSchema = z.object({ first: z.int(), batches: z.int() });
export type Part = z.output<typeof partSchema>;

/** Result of a part: CPU time of this process, µs for each command. */
export const resultSchema = z.object({ microseconds: z.number() });

const { batchSize, timeoutSeconds } = deployment.functions["run-commands"];
export const BATCH_SIZE = batchSize;
/** The fingerprint key, and the API key. */
export const SECRET = "a-secret-of-the-benchmark";
/** Change of a policy that each command makes, in a lane of its own. */
export const CHANGE = { status: "paused" };

const ports = { clock: createSystemClock(), random: createSystemRandom() };

const batchOf = (first: number, bodyOf: (number: number) => string): SQSEvent =>
  fifoQueueEvent(
    "commands.fifo",
    Array.from({ length: BATCH_SIZE }, (_, index) => ({
      messageId: randomUUID(),
      receiptHandle: "r".repeat(300),
      body: bodyOf(first + index),
      attributes: {
        ApproximateReceiveCount: "1",
        SentTimestamp: String(ports.clock.now()),
        SequenceNumber: "18849496460467696128",
        MessageGroupId: String(first + index),
        SenderId: "AIDAIO23YVJENQZJOL4VO",
        MessageDeduplicationId: String(first + index),
        ApproximateFirstReceiveTimestamp: String(ports.clock.now()),
      },
    })),
  );

/** A handler of the command queue. */
type BatchHandler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

interface Subject {
  readonly handler: BatchHandler;
  /** The message of the command with this number. */
  readonly bodyOf: (number: number) => string;
  /** Number of published events that report a success. */
  readonly successes: () => number;
}

/** Runs the parts that the parent process asks for, one batch after the other, and reports their CPU time. */
export const serveParts = ({ handler, bodyOf, successes }: Subject): void => {
  process.on("message", async (message) => {
    const { first, batches } = partSchema.parse(message);
    const events = Array.from({ length: batches }, (_, index) =>
      batchOf(first + index * BATCH_SIZE, bodyOf),
    );
    const wanted = successes() + batches * BATCH_SIZE;
    const before = process.cpuUsage();
    for (const event of events) {
      await handler(event, lambdaContext("run-commands", timeoutSeconds * 1_000, ports));
    }
    const { user, system } = process.cpuUsage(before);
    if (successes() !== wanted) throw new Error("not every command succeeded");
    process.send?.({ microseconds: (user + system) / (batches * BATCH_SIZE) });
  });
  process.once("disconnect", () => process.exit());
  process.send?.({ isReady: true });
};
