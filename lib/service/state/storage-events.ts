import * as z from "zod";
import { STORAGE_EVENT_NAMES } from "../../contract/storage-events.ts";
import { clientId } from "./fields.ts";

const MAX_UINT64 = 18_446_744_073_709_551_615n;

/** A number in a seed, decimal text in the store, which JSON keeps exact. The text is what is kept. */
const limit = z
  .union([z.string().regex(/^\d{1,20}$/), z.int(), z.bigint()], {
    error: `a whole number from 0 to ${MAX_UINT64}`,
  })
  .transform(BigInt)
  .refine((value) => value >= 0n && value <= MAX_UINT64, {
    error: `a whole number from 0 to ${MAX_UINT64}`,
  })
  .transform(String);

export const storageEventRecord = z.strictObject({
  client_id: clientId,
  uuid: z.string(),
  name: z.enum(STORAGE_EVENT_NAMES),
  storage_name: z.string().optional(),
  bucket_name: z.string().optional(),
  bytes: limit.optional(),
  count: limit.optional(),
});
