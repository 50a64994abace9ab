import pLimit, { type LimitFunction } from "p-limit";
import * as z from "zod";
import { commandKey } from "../engine/command.ts";
import { isoText } from "../events/event.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { type CancelAnswer, cancelAnswerSchema } from "./answers.ts";
import { listCommands } from "./list.ts";
import { type BoundedQuery, type BulkQuery, type ListRow, listRowSchema } from "./list-query.ts";
import { foreseeCancel } from "./operator-actions.ts";

/** Small enough that one page ends within the 30 s that a client waits. */
const PAGE_LIMIT = 100;
/** Lanes that are worked on at once. */
const MAX_LANES = 8;

const bulkRowSchema = listRowSchema().extend({
  cancel: z.discriminatedUnion("kind", [
    ...cancelAnswerSchema.options,
    /** A rejected request, which never became a command. */
    z.object({ kind: z.literal("rejected") }),
    /** A record of a newer version, or one that has been deleted since. */
    z.object({ kind: z.literal("unreadable") }),
    /** The ledger failed; `why`: name of the error. A repeat may succeed. */
    z.object({ kind: z.literal("error"), why: z.string() }),
  ]),
});

export const bulkPageSchema = z.object({
  rows: z.array(bulkRowSchema),
  /** Bound of this page and of those after it. */
  until: z.string(),
  /** Where the next page begins; absent at the end of the list. A short page may have one. */
  cursor: z.string().optional(),
});

export type BulkRow = z.output<typeof bulkRowSchema>;
export type BulkPage = z.output<typeof bulkPageSchema>;

const endStatus = z.enum(["succeeded", "failed", "cancelled"]);

type Act = (key: string) => Promise<CancelAnswer | undefined>;

const outcomeOf = async (row: ListRow, act: Act): Promise<BulkRow["cancel"]> => {
  const { id, sender, status, reason, endedAt } = row;
  if (status === "rejected" || status === "unreadable") return { kind: status };
  const ended = endStatus.safeParse(status).data;
  if (ended !== undefined && endedAt !== undefined) {
    return { kind: "ended", status: ended, endedAt, ...(reason !== undefined && { reason }) };
  }
  try {
    return (await act(commandKey({ sender, id }))) ?? { kind: "unreadable" };
  } catch (error) {
    return { kind: "error", why: error instanceof Error ? error.name : "unknown" };
  }
};

interface BulkDeps {
  readonly ledger: Ledger;
  readonly clock: Clock;
}

/**
 * Acts on a page of commands. Several lanes at once, but one after another within a lane and the newest first:
 * a cancelled holder must not hand its lane to a command that is cancelled a moment later.
 */
const actOnPage = async (
  { ledger, clock }: BulkDeps,
  query: BulkQuery,
  act: Act,
): Promise<BulkPage> => {
  const now = clock.now();
  const until = query.until ?? isoText(now);
  const page = await listCommands(ledger, { ...query, until, limit: PAGE_LIMIT }, now);
  const queues = new Map<string, LimitFunction>();
  const parallel = pLimit(MAX_LANES);
  const inLane = (lane: string) => {
    const known = queues.get(lane) ?? pLimit(1);
    queues.set(lane, known);
    return known;
  };
  const rows = await Promise.all(
    page.rows.map((row) =>
      inLane(row.resource ?? "")(() =>
        parallel(async () => ({ ...row, cancel: await outcomeOf(row, act) })),
      ),
    ),
  );
  return { rows, until, ...(page.cursor !== undefined && { cursor: page.cursor }) };
};

/**
 * Foresees what `cancelMatching` would do, with the same answers. Changes nothing.
 * @param query without `until`, the page begins at this moment
 */
export const previewCancel = (deps: BulkDeps, query: BulkQuery): Promise<BulkPage> =>
  actOnPage(deps, query, (key) => foreseeCancel(deps, key));

/**
 * Cancels a page of commands that match the query. Idempotent: a repeated page reports the same ends.
 * @param cancel cancels one command
 */
export const cancelMatching = (
  deps: BulkDeps,
  query: BoundedQuery,
  cancel: Act,
): Promise<BulkPage> => actOnPage(deps, query, cancel);
