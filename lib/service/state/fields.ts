import * as z from "zod";
import { text } from "../../contract/values.ts";

/** Id of the task that locks a record; null for none. */
export const lock = z.string().nullable().default(null);

/** Client that owns a record. Default in a seed: 1, the client of the first built-in key. */
export const clientId = z.int().default(1);

export const tagRecord = z.strictObject({
  key: text(255).min(1),
  value: text(255),
  read_only: z.boolean(),
});

/** Locations of the built-in records: two projects of client 1 in two regions. */
export const PROJECT_A = { project_id: 1234567, region_id: 76 } as const;
export const PROJECT_B = { project_id: 1186668, region_id: 148 } as const;
/** Project of the provider, which owns the external networks. */
export const PROVIDER_PROJECT = 1;
export const REGION_NAMES = { 76: "Luxembourg-2", 148: "Luxembourg-3" } as const;

export const SUBNET_OF_ROUTER = "32283b0b-b560-4690-810c-f672cbb2e28d";
