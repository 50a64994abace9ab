import * as z from "zod";
import { lazy } from "../contract/lazy.ts";
import { cursorSchema } from "./list-cursor.ts";

/*
 * Query and page of the list, and of bulk actions, without the code that reads a ledger: the command line must load fast.
 */

export const LIST_STATUSES = [
  ...["accepted", "waiting", "running", "following", "succeeded", "failed", "cancelled"],
  ...["rejected", "unknown-outcome"],
] as const;

export type ListStatus = (typeof LIST_STATUSES)[number];

/** Filters of the list and of bulk actions; an absent one accepts everything. */
const filters = lazy(() => ({
  account: z.string().optional(),
  operation: z.string().optional(),
  sender: z.string().optional(),
  /** Part of the lane's name, such as `my-container`. */
  resource: z.string().optional(),
  /** `unknown-outcome` selects failed commands with that reason. */
  status: z.enum(LIST_STATUSES).optional(),
  /** Instants in ISO 8601: accepted at or after, and at or before. */
  since: z.iso.datetime().optional(),
  until: z.iso.datetime().optional(),
  cursor: cursorSchema().optional(),
}));

interface Period {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const isPeriod = ({ since = "", until }: Period): boolean =>
  until === undefined || !(Date.parse(since) > Date.parse(until));

const NO_PERIOD = { path: ["since"], error: "must not be after until" };

export const listQuerySchema = lazy(() =>
  z
    .strictObject({ ...filters(), limit: z.coerce.number().int().min(1).max(500).default(50) })
    .refine(isPeriod, NO_PERIOD),
);

const NARROWING = ["account", "operation", "sender", "resource", "status", "since"] as const;

/**
 * Selects commands for a bulk action, page by page. `until` bounds every page: commands accepted after it are
 * left alone.
 */
export const bulkQuerySchema = lazy(() =>
  z
    .strictObject(filters())
    .refine(isPeriod, NO_PERIOD)
    .refine((query) => NARROWING.some((name) => query[name] !== undefined), {
      error: `needs at least one of ${NARROWING.join(", ")}`,
    }),
);

export type BulkQuery = z.output<ReturnType<typeof bulkQuerySchema>>;

/** A query with its bound: what changes commands must not select those accepted meanwhile. */
export const boundedQuerySchema = lazy(() =>
  bulkQuerySchema().transform(({ until, ...query }, context) => {
    if (until !== undefined) return { ...query, until };
    context.issues.push({
      code: "custom",
      path: ["until"],
      message: "needs the until of the preview",
      input: until,
    });
    return z.NEVER;
  }),
);

export type BoundedQuery = z.output<ReturnType<typeof boundedQuerySchema>>;

export type ListQuery = z.output<ReturnType<typeof listQuerySchema>>;

export const listRowSchema = lazy(() =>
  z.object({
    /** The id that `skyhook status` takes: of the command, or of a rejected request. */
    id: z.string(),
    sender: z.string(),
    /** Absent for a rejection. */
    account: z.string().optional(),
    operation: z.string(),
    /** Name of the lane; absent for a rejection. */
    resource: z.string().optional(),
    /** `unreadable` for a record of a newer version. */
    status: z.string(),
    outcome: z.string().optional(),
    reason: z.string().optional(),
    /** When the command was accepted, or the request rejected. */
    at: z.string(),
    endedAt: z.string().optional(),
  }),
);

export const listPageSchema = lazy(() =>
  z.object({
    rows: z.array(listRowSchema()),
    /** Where the next page begins; absent at the end of the list. A short page may have one. */
    cursor: z.string().optional(),
  }),
);

export type ListRow = z.output<ReturnType<typeof listRowSchema>>;
export type ListPage = z.output<ReturnType<typeof listPageSchema>>;
