import * as z from "zod";
import { lazy } from "./lazy.ts";
import { type Read, withSchemas } from "./operation.ts";
import { amount, CURRENCIES, PRICE_STATUSES, percentage } from "./prices.ts";
import {
  ipAddress,
  nothing,
  oneOf,
  projectAndRegionInt64,
  text,
  unlimitedText,
  uuid,
} from "./values.ts";

const INTERFACE_TYPES = ["external", "subnet", "any_subnet", "reserved_fixed_ip"] as const;
type InterfaceType = (typeof INTERFACE_TYPES)[number];

const ofType = <const Type extends InterfaceType>(type: Type) =>
  z.literal(type, { error: `one of ${INTERFACE_TYPES.join(", ")}` });

/** Fields of all four variants. The document leaves the floating IP variants open; these follow the published schema. */
const common = lazy(() => ({
  interface_name: text(37).nullable().optional().describe("name of the interface"),
  security_groups: z
    .array(z.strictObject({ id: uuid().describe("id of the security group") }))
    .optional()
    .describe("security groups of the interface"),
}));
const ipFamily = lazy(() =>
  oneOf(["ipv4", "ipv6", "dual"]).nullable().optional().describe("IP versions of the interface"),
);

const ofSource = <const Source extends "new" | "existing">(source: Source) =>
  z.literal(source, { error: "one of new, existing" });

const floatingIp = lazy(() =>
  z
    .discriminatedUnion("source", [
      z.strictObject({ source: ofSource("new") }),
      z.strictObject({
        source: ofSource("existing"),
        existing_floating_id: uuid().describe("id of the floating IP"),
      }),
    ])
    .nullable()
    .optional()
    .describe("floating IP of the interface"),
);

const interfaceSchema = lazy(() =>
  z.discriminatedUnion("type", [
    z.strictObject({ type: ofType("external"), ...common(), ip_family: ipFamily() }),
    z.strictObject({
      type: ofType("subnet"),
      ...common(),
      network_id: uuid().describe("id of the network"),
      subnet_id: uuid().describe("id of the subnet"),
      floating_ip: floatingIp(),
    }),
    z.strictObject({
      type: ofType("any_subnet"),
      ...common(),
      network_id: uuid().describe("id of the network"),
      ip_address: ipAddress().nullable().optional().describe("IP address of the interface"),
      ip_family: ipFamily(),
      floating_ip: floatingIp(),
    }),
    z.strictObject({
      type: ofType("reserved_fixed_ip"),
      ...common(),
      port_id: unlimitedText().describe("id of the reserved port"),
      floating_ip: floatingIp(),
    }),
  ]),
);

const volumeSchema = lazy(() =>
  z
    .strictObject({
      source: oneOf(["new-volume", "image", "snapshot", "apptemplate", "existing-volume"]).describe(
        "source of the volume",
      ),
      size: z.int().min(1).nullable().optional().describe("size in GiB"),
      type_name: unlimitedText()
        .nullable()
        .optional()
        .describe("volume type, such as standard or ssd_hiiops"),
      snapshot_id: uuid()
        .nullable()
        .optional()
        .describe("id of the snapshot, required when source is snapshot"),
      image_id: uuid().nullable().optional().describe("id of the image"),
    })
    .refine(({ source, snapshot_id }) => source !== "snapshot" || Boolean(snapshot_id), {
      path: ["snapshot_id"],
      error: "required when source is snapshot",
    }),
);

const previewSchema = lazy(() =>
  z
    .strictObject({
      flavor: unlimitedText().describe("flavor name"),
      interfaces: z.array(interfaceSchema()).describe("network interfaces of each instance"),
      names: z.array(unlimitedText()).optional().describe("one instance for each name"),
      name_templates: z
        .array(unlimitedText().nullable())
        .optional()
        .describe("one instance for each template; placeholders such as {ip_octets} are allowed"),
      volumes: z.array(volumeSchema()).optional().describe("volumes of each instance"),
    })
    .refine(
      ({ names, name_templates }) => (names === undefined) !== (name_templates === undefined),
      {
        path: ["names"],
        error: "give exactly one of names and name_templates",
      },
    ),
);

const optionalAmount = lazy(() => amount().optional());

/** Amounts by category. Newer servers leave categories out or send null, so each is optional. */
const categoriesSchema = lazy(() =>
  z.looseObject({
    external_ip: optionalAmount(),
    flavor: optionalAmount(),
    floating_ip: optionalAmount(),
    volumes: z
      .looseObject({
        cold: optionalAmount(),
        ssd_hiiops: optionalAmount(),
        ssd_lowlatency: optionalAmount(),
        standard: optionalAmount(),
        ultra: optionalAmount(),
      })
      .nullable()
      .optional(),
  }),
);

const paramsSchema = lazy(() => z.strictObject(projectAndRegionInt64()));

const responseSchema = lazy(() =>
  z.looseObject({
    currency_code: z.enum(CURRENCIES).nullable(),
    discount_details: z.array(z.looseObject({ discount: z.string(), resource: z.string() })),
    discount_percent: z.string().describe("percentage as decimal text, such as 10.50"),
    per_hour: categoriesSchema().describe(
      "list prices of the whole order, before discount and tax",
    ),
    per_month: categoriesSchema().describe(
      "list prices of the whole order, before discount and tax",
    ),
    price_status: z.enum(PRICE_STATUSES),
    price_without_discount_per_month: amount().describe("with tax"),
    tax_percent: percentage(),
    total_price_per_hour: amount().describe("with discount and tax"),
    total_price_per_month: amount().describe("with discount and tax"),
    per_gb: z.looseObject({ egress_traffic_baremetal: optionalAmount() }).nullable().optional(),
    vm_count: z.int().optional().meta({ default: 1, description: "number of instances" }),
  }),
);

/** A read, although its method is POST: it changes nothing, so a client may repeat it at any time. */
export const previewInstancePrice: Read<
  "preview-instance-price",
  ReturnType<typeof paramsSchema>,
  ReturnType<typeof nothing>,
  ReturnType<typeof previewSchema>,
  ReturnType<typeof responseSchema>
> = withSchemas(
  {
    kind: "read",
    id: "preview-instance-price",
    reference: "E6",
    summary: "Preview the price of new instances",
    family: "cloud",
    method: "POST",
    path: "/cloud/v2/pricing/{project_id}/{region_id}/instances",
    successStatus: 200,
    hasPrices: true,
  },
  () => ({
    params: paramsSchema(),
    query: nothing(),
    body: previewSchema(),
    response: responseSchema(),
  }),
);
