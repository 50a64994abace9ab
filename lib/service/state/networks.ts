import * as z from "zod";
import { projectAndRegion, uuid } from "../../contract/values.ts";
import { lock, tagRecord } from "./fields.ts";

const subnetRecord = z.strictObject({
  id: uuid,
  name: z.string(),
  cidr: z.cidrv4(),
  gateway_ip: z.ipv4(),
});

/** An external network is open to every project of its region. */
export const networkRecord = z.strictObject({
  ...projectAndRegion,
  id: uuid,
  name: z.string(),
  external: z.boolean(),
  subnets: z.array(subnetRecord),
  tags: z.array(tagRecord),
  task_id: lock,
});

export const floatingIpRecord = z.strictObject({
  ...projectAndRegion,
  id: uuid,
  floating_ip_address: z.string(),
  fixed_ip_address: z.string().nullable(),
  port_id: z.string().nullable(),
  router_id: z.string().nullable(),
  status: z.string(),
  created_at: z.string(),
  tags: z.array(tagRecord),
  task_id: lock,
});
