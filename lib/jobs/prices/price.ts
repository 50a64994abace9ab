import * as z from "zod";
import { PRICE_STATUSES } from "../../contract/prices.ts";
import { outboxKind, outboxSchema } from "../../ledger/outbox.ts";
import { recordKind } from "../../ledger/record.ts";
import { LEDGER_RETENTION_MS } from "../../ledger/retention.ts";

/** What can be watched. */
export const PRICE_KINDS = ["instance", "k8s_cluster", "gpu_cluster", "ddos"] as const;
type PriceKind = (typeof PRICE_KINDS)[number];

/** How a run ended for one item. */
export const PRICE_OUTCOMES = ["first", "unchanged", "changed", "not-compared", "failed"] as const;

/** What the provider said that something costs, with every amount as exact decimal text. */
const readingSchema = z.object({
  status: z.enum(PRICE_STATUSES),
  currency: z.string().nullable(),
  /** By category, such as `total.per_month` or `per_hour.volumes.standard`. */
  amounts: z.record(z.string(), z.string().nullable()),
});

const storedReadingSchema = z.object({
  /** 1, 2, …: of the readings under one name. */
  number: z.int().positive(),
  kind: z.enum(PRICE_KINDS),
  /** Digest of what was asked: readings of two orders are not compared. */
  fingerprint: z.string(),
  reading: readingSchema,
  readAt: z.int(),
  /** When the provider last said the same. */
  lastSeenAt: z.int(),
});

const itemSchema = z.object({
  account: z.string(),
  name: z.string(),
  kind: z.enum(PRICE_KINDS),
  /** Of what is asked now, which the latest reading may not be of. */
  fingerprint: z.string(),
  /** Absent until the first reading. */
  latest: storedReadingSchema.optional(),
  /** The last reading that was shown, while the latest one is not. */
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
  /** Start of the time that the run stands for, ISO 8601. */
  bucket: z.string(),
  endedAt: z.int(),
  outbox: outboxSchema,
});

export type PriceReading = z.output<typeof readingSchema>;
export type StoredReading = z.output<typeof storedReadingSchema>;
export type PriceItem = z.output<typeof itemSchema>;

/** What is asked under a name, and in which run. */
export interface AskedItem {
  readonly account: string;
  readonly name: string;
  readonly kind: PriceKind;
  readonly fingerprint: string;
  readonly bucket: string;
}

/** A watched name with its latest reading. Never expires: the next reading is compared with it. */
export const priceItems = outboxKind({
  kind: "price",
  schema: itemSchema,
  expiresAt: () => undefined,
});

/** Earlier readings, one by one. */
export const priceReadings = recordKind({
  kind: "price-reading",
  schema: storedReadingSchema,
  dueAt: () => undefined,
  expiresAt: () => undefined,
});

/** Ended runs: a second run for the same time does nothing. */
export const priceRuns = outboxKind({
  kind: "price-run",
  schema: runSchema,
  expiresAt: ({ endedAt }) => endedAt + LEDGER_RETENTION_MS,
});

/** The names that were ever watched for an account, so that their items can be found. */
export const priceNames = recordKind({
  kind: "price-names",
  schema: z.object({ names: z.array(z.string()) }),
  dueAt: () => undefined,
  expiresAt: () => undefined,
});

export const priceItemKey = (account: string, name: string): string => `${account}/${name}`;

export const priceReadingKey = (account: string, name: string, number: number): string =>
  `${account}/${name}/${number}`;

export const priceRunKey = (account: string, bucket: string): string => `${account}/${bucket}`;
