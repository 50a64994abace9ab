import * as z from "zod";
import { STORAGE_EVENT_NAMES } from "../../contract/storage-events.ts";
import { exactUint64, UINT64_RULE } from "../../contract/values.ts";
import { clientId } from "./fields.ts";

/** Limit: a number in a seed, decimal text in the store, so that JSON parsers keep it exact. */
const limit = z
  .union([z.string(), z.int(), z.bigint()], { error: UINT64_RULE })
  .transform((value, context) => {
    const exact = exactUint64(value);
    if (exact !== undefined) return String(exact);
    context.issues.push({ code: "custom", message: UINT64_RULE, input: value });
    return z.NEVER;
  });

export const storageEventRecord = z.strictObject({
  client_id: clientId,
  uuid: z.string(),
  name: z.enum(STORAGE_EVENT_NAMES),
  storage_name: z.string().optional(),
  bucket_name: z.string().optional(),
  bytes: limit.optional(),
  count: limit.optional(),
});

export type StorageEventRecord = z.output<typeof storageEventRecord>;

export const builtInStorageEvents = (): StorageEventRecord[] => [
  {
    client_id: 1,
    uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e01",
    name: "reaching_used_space",
    storage_name: "my-storage-prod",
    bucket_name: "my-bucket",
    bytes: "500",
  },
  {
    client_id: 1,
    uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e02",
    name: "reaching_files_quantity",
    storage_name: "my-storage-prod",
    bucket_name: "my-bucket",
    count: "5",
  },
];
