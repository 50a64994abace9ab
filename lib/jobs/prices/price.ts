import * as z from "zod";
import { PRICE_STATUSES } from "../../contract/prices.ts";
import { outboxKind, outboxSchema } from "../../ledger/outbox.ts";
import { recordKind } from "../../ledger/record.ts";
import { LEDGER_RETENTION_MS } from "../../ledger/retention.ts";

/** Kinds of watchlist items. */
export const PRICE_KINDS = ["instance", "k8s_cluster", "gpu_cluster", "ddos"] as const;
type PriceKind = (typeof PRICE_KINDS)[number];

/** Outcomes of one item in a run. */
export const PRICE_OUTCOMES = ["first", "unchanged", "changed", "not-compared", "failed"] as const;

/** Price as the provider showed it, with every amount as exact decimal text. */
const readingSchema = z.object({
  status: z.enum(PRICE_STATUSES),
  currency: z.string().nullable(),
  /** Amounts by category, such as `total.per_month` or `per_hour.volumes.standard`. */
  amounts: z.record(z.string(), z.string().nullable()),
});

const storedReadingSchema = z.object({
  /** Number of the reading under its name: 1, 2, … */
  number: z.int().positive(),
  kind: z.enum(PRICE_KINDS),
  /** Digest of the order: readings of two orders are not compared. */
  fingerprint: z.string(),
  reading: readingSchema,
  /** Time at which this price was first read, epoch ms. */
  readAt: z.int(),
  /** Time of the last equal reading, epoch ms. */
  lastSeenAt: z.int(),
});

const itemSchema = z.object({
  account: z.string(),
  name: z.string(),
  kind: z.enum(PRICE_KINDS),
  /** Digest of the current order; the latest reading may belong to an earlier one. */
  fingerprint: z.string(),
  /** Absent until the first reading. */
  latest: storedReadingSchema.optional(),
  /** Last reading that showed a price, if the latest one does not. */
  lastShown: storedReadingSchema.optional(),
  lastRun: z.object({
    bucket: z.string(),
    outcome: z.enum(PRICE_OUTCOMES),
    problem: z.string().optional(),
  }),
  outbox: outboxSchema,
});

const runSchema = z.object({
  account: z.string(),
  /** Start of the run's period, ISO 8601. */
  bucket: z.string(),
  endedAt: z.int(),
  outbox: outboxSchema,
});

export type PriceReading = z.output<typeof readingSchema>;
export type StoredReading = z.output<typeof storedReadingSchema>;
export type PriceItem = z.output<typeof itemSchema>;

/** Item of a watchlist in one run. */
export interface AskedItem {
  readonly account: string;
  readonly name: string;
  readonly kind: PriceKind;
  readonly fingerprint: string;
  readonly bucket: string;
}

/** Watched names with their latest reading. They never expire: the next reading is compared with it. */
export const priceItems = outboxKind({
  kind: "price",
  schema: itemSchema,
});

/** Earlier readings, one record each. */
export const priceReadings = recordKind({
  kind: "price-reading",
  schema: storedReadingSchema,
  dueAt: () => undefined,
});

/** Ended runs: a second run for the same period does nothing. */
export const priceRuns = outboxKind({
  kind: "price-run",
  schema: runSchema,
  expiresAt: ({ endedAt }) => endedAt + LEDGER_RETENTION_MS,
});

/** Names that were ever watched for an account, so that their items can be found. */
export const priceNames = recordKind({
  kind: "price-names",
  schema: z.object({ names: z.array(z.string()) }),
  dueAt: () => undefined,
});

export const priceItemKey = (account: string, name: string): string => `${account}/${name}`;

export const priceReadingKey = (account: string, name: string, number: number): string =>
  `${account}/${name}/${number}`;

export const priceRunKey = (account: string, bucket: string): string => `${account}/${bucket}`;
