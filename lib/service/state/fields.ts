import * as z from "zod";
import { text } from "../../contract/values.ts";

/** The id of the task that locks a record; null when none does. */
export const lock = z.string().nullable().default(null);

/** The client that owns a record. Default in a seed: the client of the built-in key. */
export const clientId = z.int().default(1);

export const tagRecord = z.strictObject({
  key: text(255).min(1),
  value: text(255),
  read_only: z.boolean(),
});

/** The locations of the built-in records: two projects of one client, two regions. */
export const PROJECT_A = { project_id: 1234567, region_id: 76 } as const;
export const PROJECT_B = { project_id: 1186668, region_id: 148 } as const;
/** The provider's own project, which has the external networks. */
export const PROVIDER_PROJECT = 1;
export const REGION_NAMES = { 76: "Luxembourg-2", 148: "Luxembourg-3" } as const;

export const SUBNET_OF_ROUTER = "32283b0b-b560-4690-810c-f672cbb2e28d";
