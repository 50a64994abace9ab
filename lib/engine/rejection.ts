import * as z from "zod";
import { clipped, eventIdOf, eventOf, listedProblems, publishNow } from "../events/event.ts";
import { recordKind } from "../ledger/record.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { commandKey, commands, splitCommandKey } from "./command.ts";
import type { CommandDeps } from "./deps.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { Rejection } from "./request.ts";

const HOUR_MS = 60 * 60 * 1000;
const RETENTION_MS = 30 * 24 * HOUR_MS;
/** Maximum number of records of one sender in one hour. Further rejections are an event and a log line only. */
export const MAX_PER_HOUR = 100;
/**
 * Number of items that share these records. A writer loses to others at most as often as one item takes
 * entries, which is less often than a change of an item is retried.
 */
const PARTS_OF_HOUR = 10;
/** Maximum number of requests under one id; the listed one and the newest stay. */
const MAX_PER_ID = 5;
const MAX_PROBLEMS = 10;
const MAX_CHARACTERS = 200;

const rejectionSchema = z.object({
  /** Keyed hash of the message and the reason: the same for a repeated delivery of one request. */
  digest: z.string(),
  eventId: z.string().optional(),
  commandId: z.string().optional(),
  /** The requested operation; it may not exist. */
  operation: z.string(),
  reason: z.string(),
  /** The first 10 problems. */
  problems: z.array(z.object({ path: z.string(), rule: z.string() })),
  problemCount: z.int(),
  rejectedAt: z.int(),
  /** Id of its event, `metadata.id`; absent for a request without a command id. */
  publishedAs: z.string().optional(),
});

export type Rejected = z.output<typeof rejectionSchema>;

const keyOf = (sender: string, id: string): string => `${sender}/${id}`;

/** The id under which a rejection is recorded first. */
const recordId = ({ eventId, commandId, digest }: Rejected): string =>
  eventId ?? commandId ?? digest;

/**
 * The rejection that the list shows for a record. A rejection that is recorded under two ids is listed once,
 * under the first of them.
 */
const listedOf = (found: readonly Rejected[], id: string): Rejected | undefined =>
  found.find((rejection) => recordId(rejection) === id);

/** Rejected requests of one sender under one id: a request's event id, or its command id. */
export const rejections = recordKind({
  kind: "rejection",
  schema: z.object({ rejections: z.array(rejectionSchema) }),
  dueAt: () => undefined,
  expiresAt: (record) =>
    Math.max(...record.rejections.map(({ rejectedAt }) => rejectedAt)) + RETENTION_MS,
  listing: ({ rejections: found }, key) => {
    const { sender, id } = splitCommandKey(key);
    const listed = listedOf(found, id);
    return listed && { at: listed.rejectedAt, sender, operation: listed.operation };
  },
});

/**
 * A part of the rejections of one sender in one hour. Limits their number, and lists their records.
 */
const rejectionHours = recordKind({
  kind: "rejection-hour",
  schema: z.object({
    /** Start of the hour, epoch ms. */
    beganAt: z.int(),
    /** `id`: the id under which the record is stored. */
    entries: z.array(z.object({ id: z.string(), digest: z.string() })),
  }),
  dueAt: () => undefined,
  expiresAt: ({ beganAt }) => beganAt + HOUR_MS + RETENTION_MS,
});

/** The part of a rejection that fits a record, about 4 kB. */
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

/** Leaves out the oldest one above the limit, but not the listed one: the list must not change. */
const limited = (found: readonly Rejected[], id: string): Rejected[] => {
  const listed = listedOf(found, id);
  const oldest = found.findIndex((rejection) => rejection !== listed);
  return found.length > MAX_PER_ID ? found.toSpliced(oldest, 1) : [...found];
};

const record = async (ledger: Ledger, sender: string, id: string, rejection: Rejected) => {
  const key = keyOf(sender, id);
  const { value } = await rejections.change(ledger, key, (current = { rejections: [] }) =>
    withDigest(current.rejections, rejection.digest)
      ? current
      : { rejections: limited([...current.rejections, fitting(rejection)], id) },
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
  const { digest, commandId, rejectedAt } = rejection;
  const id = recordId(rejection);
  const known = withDigest(await readRejections(ledger, sender, id), digest);
  if (!known && !(await countInHour(ledger, sender, { id, digest, rejectedAt }))) return undefined;
  const recorded = (await record(ledger, sender, id, known ?? rejection)) ?? rejection;
  if (commandId !== undefined && commandId !== id) {
    await record(ledger, sender, commandId, recorded);
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

/** The rejection that the list shows for this record. */
export const readListedRejection = async (
  ledger: Ledger,
  sender: string,
  id: string,
): Promise<Rejected | undefined> => listedOf(await readRejections(ledger, sender, id), id);

/** A longer operation name is cut off in the event. */
const MAX_OPERATION_CHARACTERS = 100;

export type RejectDeps = Pick<
  CommandDeps,
  "bus" | "clock" | "fingerprintKey" | "ledger" | "log" | "metrics"
>;

/** When the request was first rejected, epoch ms. A repeated delivery finds the first record. */
const recordedAt = async (
  { ledger, clock, log, fingerprintKey }: RejectDeps,
  { sender, commandId, eventId, operation, reason, problems }: Rejection,
  message: string,
  publishedAs: string | undefined,
): Promise<number> => {
  const rejection: Rejected = {
    digest: fingerprintOf([sender, commandId ?? null, reason, message], fingerprintKey),
    ...(eventId !== undefined && { eventId }),
    ...(commandId !== undefined && { commandId }),
    operation,
    reason,
    problems: [...problems],
    problemCount: problems.length,
    rejectedAt: clock.now(),
    ...(publishedAs !== undefined && { publishedAs }),
  };
  const known = await recordRejection(ledger, sender, rejection);
  if (!known)
    log.warn("rejection not recorded: its sender has reached the limit of this hour", { sender });
  return (known ?? rejection).rejectedAt;
};

const REJECTED = "CommandRejected";

/** The identity of a rejection's event, and whether a command has the id of the request. */
const eventIdentity = async (
  { ledger, fingerprintKey }: RejectDeps,
  { sender, commandId, reason }: Rejection,
  message: string,
) => {
  if (commandId === undefined) return undefined;
  const key = commandKey({ sender, id: commandId });
  // A subscriber must not take this for the end of the command that already has the id. A rejection
  // that is published before that command exists, and again after, has different fields, so it is two
  // events.
  const isTaken = (await commands.read(ledger, key)) !== undefined;
  const identity = [key, reason, fingerprintOf(message, fingerprintKey)];
  return { commandId, key, isTaken, identity: [...identity, ...(isTaken ? ["taken"] : [])] };
};

/**
 * Records that a request does not become a command, then publishes it; no command changes. A request
 * without any id is recorded and logged only. A rejection is counted each time it is published, so a
 * crash before the acknowledgement counts it twice.
 * @param message the message as received; a redelivered message is the same rejection
 * @throws Error when the ledger fails or the bus did not take the event; the message is redelivered
 */
export const rejectRequest = async (
  deps: RejectDeps,
  rejection: Rejection,
  message: string,
): Promise<void> => {
  const { sender, commandId, reason } = rejection;
  if (reason === "not-allowed") deps.metrics.count("CommandNotAllowed");
  const correlationId = rejection.correlationId ?? commandId;
  const log = deps.log.with({ correlationId, commandId });
  const problems = listedProblems(rejection.problems);
  const rules = problems.map(({ path, rule }) => `${path}: ${rule}`);
  const fields = { reason, sender, problems: rules };
  const about = await eventIdentity(deps, rejection, message);
  const publishedAs = about && eventIdOf(REJECTED, about.identity);
  const time = await recordedAt({ ...deps, log }, rejection, message, publishedAs);
  if (!about) {
    log.warn("request rejected without an event: it has no id", fields);
    return;
  }
  log.info("request rejected", fields);
  const { key, isTaken, identity } = about;
  const event = eventOf({
    detailType: REJECTED,
    identity,
    subject: key,
    time,
    correlationId: correlationId ?? about.commandId,
    causationId: rejection.eventId ?? about.commandId,
    sender,
    ...(!isTaken && { commandId }),
    data: {
      operation: rejection.operation.slice(0, MAX_OPERATION_CHARACTERS),
      reason,
      problems,
      ...(isTaken && { requestedCommandId: about.commandId }),
    },
  });
  await publishNow({ bus: deps.bus, log }, event);
  deps.metrics.count("CommandEnded", { outcome: "rejected" });
};
