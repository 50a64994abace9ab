import * as z from "zod";
import { policySchema } from "../../contract/lifecycle-policies.ts";
import { textId } from "../../contract/values.ts";

/** The answered record with the volumes, which are shown only to who asks. */
export const policyRecord = policySchema
  .extend({
    volumes: z.array(z.strictObject({ volume_id: textId, volume_name: z.string() })),
  })
  .strict();
