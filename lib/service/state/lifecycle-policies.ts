import * as z from "zod";
import { policySchema } from "../../contract/lifecycle-policies.ts";

/** The answered record with the volumes, which are shown only to who asks. */
export const policyRecord = policySchema
  .extend({
    volumes: z.array(z.strictObject({ volume_id: z.string(), volume_name: z.string() })),
  })
  .strict();
