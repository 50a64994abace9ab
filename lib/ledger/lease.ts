import * as z from "zod";
import { recordKind } from "./record.ts";

const leaseSchema = z.object({ by: z.string(), until: z.int() });

/** Who does a job that one runner at a time is enough for. It saves work; nothing relies on it. */
export const leases = recordKind({
  kind: "lease",
  schema: leaseSchema,
  dueAt: () => undefined,
  expiresAt: () => undefined,
});
