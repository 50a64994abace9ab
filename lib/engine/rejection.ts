import * as z from "zod";
import { clipped } from "../events/event.ts";
import { recordKind } from "../ledger/record.ts";
import type { Ledger } from "../platform/ports/ledger.ts";

const HOUR_MS = 60 * 60 * 1000;
const RETENTION_MS = 30 * 24 * HOUR_MS;
/** Records of one sender in one hour. Beyond it a rejection is an event and a log line only. */
export const MAX_PER_HOUR = 100;
/**
 * Items over which these are spread. Each writer loses to another at most as often as an item takes
 * entries, which is less often than a change of an item is tried.
 */
const PARTS_OF_HOUR = 10;
/** Requests under one id, the newest. */
const MAX_PER_ID = 5;
const MAX_PROBLEMS = 10;
const MAX_CHARACTERS = 200;

const rejectionSchema = z.object({
  /** Keyed hash of the message and the reason: tells a repeated delivery from another request. */
  digest: z.string(),
  eventId: z.string().optional(),
  commandId: z.string().optional(),
  /** As requested, which may be no operation at all. */
  operation: z.string(),
  reason: z.string(),
  /** The first ones. */
  problems: z.array(z.object({ path: z.string(), rule: z.string() })),
  problemCount: z.int(),
  rejectedAt: z.int(),
});

export type Rejected = z.output<typeof rejectionSchema>;

/** Rejected requests of one sender under one id: a request's event id, or its command id. */
const rejections = recordKind({
  kind: "rejection",
  schema: z.object({ rejections: z.array(rejectionSchema) }),
  dueAt: () => undefined,
  expiresAt: (record) =>
    Math.max(...record.rejections.map(({ rejectedAt }) => rejectedAt)) + RETENTION_MS,
});

/** A part of what one sender had rejected in one hour: bounds the records, and lists them. */
const rejectionHours = recordKind({
  kind: "rejection-hour",
  schema: z.object({
    /** Epoch ms. */
    beganAt: z.int(),
    /** `id`: where the record is. */
    entries: z.array(z.object({ id: z.string(), digest: z.string() })),
  }),
  dueAt: () => undefined,
  expiresAt: ({ beganAt }) => beganAt + HOUR_MS + RETENTION_MS,
});

const keyOf = (sender: string, id: string): string => `${sender}/${id}`;

/** As much of a rejection as a record has room for: about 4 kB. */
const fitting = (rejection: Rejected): Rejected => ({
  ...rejection,
  operation: clipped(rejection.operation, MAX_CHARACTERS),
  problems: rejection.problems.slice(0, MAX_PROBLEMS).map(({ path, rule }) => ({
    path: clipped(path, MAX_CHARACTERS),
    rule: clipped(rule, MAX_CHARACTERS),
  })),
});

const withDigest = (found: readonly Rejected[], digest: string): Rejected | undefined =>
  found.find((rejection) => rejection.digest === digest);

/**
 * Counts a rejection in its hour: in the part that its digest chooses, or the next one with room.
 * @returns whether the hour has room for it
 */
const countInHour = async (
  ledger: Ledger,
  sender: string,
  { id, digest, rejectedAt }: { id: string; digest: string; rejectedAt: number },
): Promise<boolean> => {
  const beganAt = Math.floor(rejectedAt / HOUR_MS) * HOUR_MS;
  const hour = keyOf(sender, new Date(beganAt).toISOString().slice(0, 13));
  const isListed = ({ entries }: { entries: readonly { digest: string }[] }): boolean =>
    entries.some((entry) => entry.digest === digest);
  const first = Number.parseInt(digest.slice(0, 8), 16);
  for (let tried = 0; tried < PARTS_OF_HOUR; tried++) {
    const key = `${hour}/${(first + tried) % PARTS_OF_HOUR}`;
    const { value } = await rejectionHours.change(ledger, key, (part = { beganAt, entries: [] }) =>
      isListed(part) || part.entries.length >= MAX_PER_HOUR / PARTS_OF_HOUR
        ? part
        : { ...part, entries: [...part.entries, { id, digest }] },
    );
    if (isListed(value)) return true;
  }
  return false;
};

const record = async (
  ledger: Ledger,
  key: string,
  rejection: Rejected,
): Promise<Rejected | undefined> => {
  const { value } = await rejections.change(ledger, key, (current = { rejections: [] }) =>
    withDigest(current.rejections, rejection.digest)
      ? current
      : { rejections: [...current.rejections, fitting(rejection)].slice(-MAX_PER_ID) },
  );
  return withDigest(value.rejections, rejection.digest);
};

/**
 * Records a rejection under its event id and its command id; one without any id under its digest.
 * Repeatable: the first record of a request stays.
 * @returns what is recorded; undefined when the sender's hour is full
 */
export const recordRejection = async (
  ledger: Ledger,
  sender: string,
  rejection: Rejected,
): Promise<Rejected | undefined> => {
  const { digest, eventId, commandId, rejectedAt } = rejection;
  const id = eventId ?? commandId ?? digest;
  const known = withDigest(await readRejections(ledger, sender, id), digest);
  if (!known && !(await countInHour(ledger, sender, { id, digest, rejectedAt }))) return undefined;
  const recorded = (await record(ledger, keyOf(sender, id), known ?? rejection)) ?? rejection;
  if (commandId !== undefined && commandId !== id) {
    await record(ledger, keyOf(sender, commandId), recorded);
  }
  return recorded;
};

/** The recorded rejections under an event id or a command id of the sender, the oldest first. */
export const readRejections = async (
  ledger: Ledger,
  sender: string,
  id: string,
): Promise<readonly Rejected[]> =>
  (await rejections.read(ledger, keyOf(sender, id)))?.value.rejections ?? [];
