import * as z from "zod";
import { STORAGE_EVENT_NAMES } from "../../contract/storage-events.ts";
import { outboxKind, outboxSchema } from "../../ledger/outbox.ts";

/** A limit, or null where there is no such threshold. */
const limitSchema = z.string().nullable();

/** Changes of a threshold that may still take effect: about to be sent, or sent and not clearly answered. */
const openSchema = z.object({
  /** What they make of it. */
  limits: z.array(limitSchema),
  /** Epoch ms. */
  until: z.number(),
});

/** A threshold that was applied; without a limit while nobody knows which it has. */
const appliedSchema = z.object({
  name: z.enum(STORAGE_EVENT_NAMES),
  storage_name: z.string().optional(),
  bucket_name: z.string().optional(),
  limit: limitSchema.optional(),
  open: openSchema.optional(),
});

const thresholdSyncSchema = z.object({
  account: z.string(),
  /** Digest of what the last complete sync wanted; absent while something is left to do. */
  syncedDigest: z.string().optional(),
  /** Of the last object-created event that was acted on; S3 orders events of one key by it. */
  sequencer: z.string().optional(),
  /** Runs that are recorded, so far: the number of the last one. */
  run: z.int(),
  /** What was applied, for accounts whose thresholds cannot be listed. */
  applied: z.array(appliedSchema).optional(),
  outbox: outboxSchema,
});

export type ThresholdSync = z.output<typeof thresholdSyncSchema>;

/** What is remembered of the thresholds of one client. It never expires: it is the last known state. */
export const thresholdSyncs = outboxKind({
  kind: "thresholds",
  schema: thresholdSyncSchema,
  expiresAt: () => undefined,
});

/** @param clientId absent: the API key's own client */
export const thresholdSyncKey = (account: string, clientId: number | bigint | undefined): string =>
  clientId === undefined ? account : `${account}/${clientId}`;
