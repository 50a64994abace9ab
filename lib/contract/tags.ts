import * as z from "zod";
import { lazy } from "./lazy.ts";
import { read } from "./operation.ts";
import { projectAndRegion, unlimitedText, uuid } from "./values.ts";

/** 1 to 255 characters, as in the document. The published interface also forbids whitespace and `=`. */
const tagKey = lazy(() =>
  unlimitedText()
    .refine((key) => key.length > 0 && [...key].length <= 255, { error: "1 to 255 characters" })
    .meta({ minLength: 1, maxLength: 255 }),
);

const keyQuery = lazy(() => z.strictObject({ key: tagKey() }));

export const tagSchema = lazy(() =>
  z
    .looseObject({
      key: z.string().meta({ maxLength: 255 }),
      read_only: z.boolean().describe("true if users cannot change the tag"),
      value: z.string().meta({ maxLength: 255 }),
    })
    .meta({ id: "Tag" }),
);

export const getFloatingIpTag = read({
  id: "get-floating-ip-tag",
  reference: "E13",
  summary: "Read one tag of a floating IP",
  path: "/cloud/v1/floatingips/{project_id}/{region_id}/{floating_ip_id}/metadata_item",
  schemas: () => ({
    params: z.strictObject({
      ...projectAndRegion(),
      floating_ip_id: uuid().describe("id of the floating IP"),
    }),
    query: keyQuery(),
    response: tagSchema(),
  }),
});

export const getNetworkTag = read({
  id: "get-network-tag",
  reference: "E14",
  summary: "Read one tag of a network",
  path: "/cloud/v1/networks/{project_id}/{region_id}/{network_id}/metadata_item",
  schemas: () => ({
    params: z.strictObject({
      ...projectAndRegion(),
      network_id: uuid().describe("id of the network"),
    }),
    query: keyQuery(),
    response: tagSchema(),
  }),
});
