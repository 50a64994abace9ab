import { createHash } from "node:crypto";
import * as z from "zod";
import { recordKind } from "../ledger/record.ts";
import { LEDGER_RETENTION_MS } from "../ledger/retention.ts";

/** A lane in which commands wait is checked after this time, until its holder is seen running. */
const GRANT_CHECK_MS = 30_000;
const MAX_RESEND_MS = 10 * 60_000;

/**
 * Pause from a message that resumes a command to the next one, which is needed only if the first is lost: as long as all
 * messages before took, 30 s to 10 min. In a burst they wait in the queue for minutes, and each check adds one.
 * @param since when the first message was due, epoch ms
 * @param due when this one was due, epoch ms
 */
export const pauseBeforeResend = (since: number, due: number): number =>
  Math.min(MAX_RESEND_MS, Math.max(GRANT_CHECK_MS, due - since));

/**
 * Keeps the item far below DynamoDB's limit of 400 kB, and bounds a lane that makes no progress.
 */
export const MAX_WAITING = 500;

const laneSchema = z.object({
  /** Key of the command in flight. The last one stays after its end, until the next command enters. */
  holder: z.string().optional(),
  /** Keys of the commands behind it, in the order of entering. */
  waiting: z.array(z.string()),
  changedAt: z.int(),
  /** Next check of the holder; absent for one that entered a free lane, and once it was seen running. */
  checkAt: z.int().optional(),
});

export type Lane = z.output<typeof laneSchema>;

export const lanes = recordKind({
  kind: "lane",
  schema: laneSchema,
  dueAt: (lane) => (lane.holder === undefined ? undefined : lane.checkAt),
  // A holder ends at its deadline, long before that.
  expiresAt: ({ waiting, changedAt }) =>
    waiting.length === 0 ? changedAt + LEDGER_RETENTION_MS : undefined,
});

export const isFull = (lane: Lane | undefined): boolean =>
  lane !== undefined && lane.waiting.length >= MAX_WAITING;

/**
 * Puts a command into the lane: at its head when the lane is free, else last. Repeatable. A free lane needs no check of
 * its holder: a message or its own due time brings that back.
 * @param ended a holder that has ended, so that it leaves the lane free
 */
export const enterLane = (
  lane: Lane | undefined,
  key: string,
  now: number,
  ended?: string,
): Lane => {
  const current = lane ?? { waiting: [], changedAt: now };
  if (current.holder === key || current.waiting.includes(key)) return current;
  const { holder, waiting, checkAt = now + GRANT_CHECK_MS } = current;
  const isFree = holder === undefined || (holder === ended && waiting.length === 0);
  if (isFree) return { waiting, holder: key, changedAt: now };
  return isFull(current) ? current : { ...current, waiting: [...waiting, key], checkAt };
};

/**
 * Takes a command out; a lane that it held passes to the next command. Without one it stays as the last holder, which
 * saves a write, unless the lane is due for its sake. Repeatable.
 */
export const leaveLane = (lane: Lane | undefined, key: string, now: number): Lane => {
  const current = lane ?? { waiting: [], changedAt: now };
  if (current.holder === key) {
    const [next, ...waiting] = current.waiting;
    if (next === undefined && current.checkAt === undefined) return current;
    const granted = next !== undefined && { holder: next, checkAt: now + GRANT_CHECK_MS };
    return { waiting, changedAt: now, ...granted };
  }
  return current.waiting.includes(key)
    ? { ...current, waiting: current.waiting.filter((other) => other !== key), changedAt: now }
    : current;
};

/**
 * Ends the checks of a grant after its holder was seen active: from now on its own due time brings it
 * back.
 */
export const confirmHolder = (lane: Lane, key: string): Lane => {
  if (lane.holder !== key || lane.checkAt === undefined) return lane;
  const { checkAt: _, ...confirmed } = lane;
  return confirmed;
};

/** Postpones the check of a grant. Its holder was not active, and is sent back to the queue. */
export const renewGrant = (lane: Lane, key: string, now: number): Lane =>
  lane.holder === key
    ? { ...lane, checkAt: now + pauseBeforeResend(lane.changedAt, lane.checkAt ?? now) }
    : lane;

/** SQS accepts message group ids up to this length. */
const MAX_GROUP_ID_LENGTH = 128;

/** The queue's message group of a lane. */
export const groupIdOf = (lane: string): string =>
  lane.length <= MAX_GROUP_ID_LENGTH ? lane : createHash("sha256").update(lane).digest("hex");
