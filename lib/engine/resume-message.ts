import * as z from "zod";
import type { CommandMessage } from "../platform/ports/queue.ts";
import type { Random } from "../platform/ports/random.ts";
import { groupIdOf } from "./lane-id.ts";

/**
 * Our own message: a command that is in the ledger is to go on. It carries no request, so secrets
 * stay where they are.
 */
export const resumeSchema = z.strictObject({
  resume: z.strictObject({ command: z.string(), lane: z.string() }),
});

/** SQS refuses some characters that a command id may have; JSON can say all of them in ASCII. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

export const resumeMessage = (command: string, lane: string, random: Random): CommandMessage => ({
  body: asciiJson({ resume: { command, lane } }),
  groupId: groupIdOf(lane),
  // Always a new id: a FIFO queue drops an id that it saw in the last 5 minutes.
  deduplicationId: random.uuid(),
});
