import { describe, expect, test } from "vitest";
import { previewInstancePrice } from "../../../lib/contract/instance-price.ts";
import { accepted, bothWays, received, refused } from "./both-ways.ts";

const ID = "b39792c3-3160-4356-912e-ba396c95cdcf";
const FAMILY_RULE = "one of ipv4, ipv6, dual";
const TYPE_RULE = "one of external, subnet, any_subnet, reserved_fixed_ip";
const SOURCE_RULE = "one of new-volume, image, snapshot, apptemplate, existing-volume";
const NAMES_RULE = "names: give exactly one of names and name_templates";

const order = { flavor: "g1-standard-1-2", interfaces: [], names: ["web"] };
const { names: _, ...unnamed } = order;
const withInterface = (one: unknown) => ({ ...order, interfaces: [one] });
const withVolume = (volume: unknown) => ({ ...order, volumes: [volume] });

const external = { type: "external" };
const subnet = { type: "subnet", network_id: ID, subnet_id: ID };
const anySubnet = { type: "any_subnet", network_id: ID };
const reserved = { type: "reserved_fixed_ip", port_id: "any text" };

describe("the body of a price preview accepts", () => {
  test.each<[string, object]>([
    ["names", order],
    ["an empty list of names", { ...order, names: [] }],
    [
      "name templates, with null among them",
      { ...unnamed, name_templates: ["vm-{ip_octets}", null] },
    ],
    ["no volumes", { ...order, volumes: [] }],
    [
      "one interface of each kind",
      { ...order, interfaces: [external, subnet, anySubnet, reserved] },
    ],
  ])("%s", (_name, body) => {
    expect(bothWays(previewInstancePrice.body, body)).toEqual(accepted(body));
  });

  test.each<object>([
    { ...external, ip_family: "ipv4" },
    { ...external, ip_family: "ipv6" },
    { ...external, ip_family: "dual" },
    { ...external, ip_family: null, interface_name: null },
    { ...anySubnet, ip_family: "dual", ip_address: "10.0.0.1" },
    { ...anySubnet, ip_family: null, ip_address: "2001:db8::1" },
    { ...anySubnet, ip_address: null },
  ])("the interface %j", (one) => {
    expect(bothWays(previewInstancePrice.body, withInterface(one))).toEqual(
      accepted(withInterface(one)),
    );
  });

  test.each([external, subnet, anySubnet, reserved])(
    "a name of 37 characters and security groups on an interface of type $type",
    (one) => {
      const body = withInterface({
        ...one,
        interface_name: "😀".repeat(37),
        security_groups: [{ id: ID }],
      });

      expect(bothWays(previewInstancePrice.body, body)).toEqual(accepted(body));
    },
  );

  test.each([subnet, anySubnet, reserved])("a floating IP on an interface of type $type", (one) => {
    for (const floating_ip of [
      null,
      { source: "new" },
      { source: "existing", existing_floating_id: ID },
    ]) {
      const body = withInterface({ ...one, floating_ip });

      expect(bothWays(previewInstancePrice.body, body)).toEqual(accepted(body));
    }
  });

  test.each<object>([
    { source: "new-volume", size: 1, type_name: "standard" },
    { source: "image", size: null, type_name: null, image_id: ID },
    { source: "image", image_id: null, snapshot_id: null },
    { source: "snapshot", snapshot_id: ID, size: 9007199254740991 },
    { source: "apptemplate", type_name: "a type of tomorrow" },
    { source: "existing-volume" },
  ])("the volume %j", (volume) => {
    expect(bothWays(previewInstancePrice.body, withVolume(volume))).toEqual(
      accepted(withVolume(volume)),
    );
  });
});

describe("the body of a price preview refuses", () => {
  test.each<[string, object]>([
    [NAMES_RULE, unnamed],
    [NAMES_RULE, { ...order, name_templates: ["vm-{ip_octets}"] }],
    [NAMES_RULE, { ...order, names: [], name_templates: [] }],
    ["names: a list, not null", { ...order, names: null }],
    ["names.1: a string, not null", { ...order, names: ["a", null] }],
    ["name_templates: a list, not null", { ...unnamed, name_templates: null }],
    ["name_templates.0: a string", { ...unnamed, name_templates: [5] }],
    ["flavor: required", { ...order, flavor: undefined }],
    ["flavor: a string, not null", { ...order, flavor: null }],
    ["flavor: must be well-formed Unicode", { ...order, flavor: "\ud83d" }],
    ["interfaces: required", { ...order, interfaces: undefined }],
    ["interfaces: a list, not null", { ...order, interfaces: null }],
    ["interfaces.0: an object", withInterface("external")],
    ["volumes: a list, not null", { ...order, volumes: null }],
    ["vm_count: unknown field", { ...order, vm_count: 2 }],
  ])("%s", (problem, body) => {
    expect(bothWays(previewInstancePrice.body, body)).toEqual(refused(problem));
  });

  test.each<[string, object]>([
    [`type: ${TYPE_RULE}`, {}],
    [`type: ${TYPE_RULE}`, { type: "any-subnet" }],
    [`type: ${TYPE_RULE}`, { type: null }],
    [`ip_family: ${FAMILY_RULE}`, { ...external, ip_family: "ipv5" }],
    [`ip_family: ${FAMILY_RULE}`, { ...anySubnet, ip_family: "IPv4" }],
    ["ip_family: unknown field", { ...subnet, ip_family: "ipv4" }],
    ["ip_family: unknown field", { ...reserved, ip_family: "ipv4" }],
    ["network_id: unknown field", { ...external, network_id: ID }],
    ["floating_ip: unknown field", { ...external, floating_ip: { source: "new" } }],
    ["network_id: required", { ...subnet, network_id: undefined }],
    ["network_id: a UUID", { ...subnet, network_id: "net1" }],
    ["subnet_id: required", { ...subnet, subnet_id: undefined }],
    ["subnet_id: a UUID", { ...subnet, subnet_id: "" }],
    ["subnet_id: unknown field", { ...anySubnet, subnet_id: ID }],
    ["network_id: required", { ...anySubnet, network_id: undefined }],
    ["ip_address: an IPv4 or IPv6 address", { ...anySubnet, ip_address: "10.0.0.256" }],
    ["ip_address: unknown field", { ...subnet, ip_address: "10.0.0.1" }],
    ["port_id: required", { ...reserved, port_id: undefined }],
    ["port_id: a string, not null", { ...reserved, port_id: null }],
    ["interface_name: at most 37 characters", { ...external, interface_name: "n".repeat(38) }],
    ["interface_name: at most 37 characters", { ...subnet, interface_name: "n".repeat(38) }],
    ["interface_name: at most 37 characters", { ...anySubnet, interface_name: "n".repeat(38) }],
    ["interface_name: at most 37 characters", { ...reserved, interface_name: "😀".repeat(38) }],
    ["security_groups.0.id: a UUID", { ...external, security_groups: [{ id: "default" }] }],
    [
      "security_groups.0.name: unknown field",
      { ...reserved, security_groups: [{ id: ID, name: "x" }] },
    ],
    ["security_groups: a list, not null", { ...subnet, security_groups: null }],
    [
      "floating_ip.existing_floating_id: required",
      { ...subnet, floating_ip: { source: "existing" } },
    ],
    [
      "floating_ip.existing_floating_id: a UUID",
      { ...anySubnet, floating_ip: { source: "existing", existing_floating_id: "1.2.3.4" } },
    ],
    [
      "floating_ip.existing_floating_id: unknown field",
      { ...reserved, floating_ip: { source: "new", existing_floating_id: ID } },
    ],
  ])("%s of the interface %j", (problem, one) => {
    expect(bothWays(previewInstancePrice.body, withInterface(one))).toEqual(
      refused(`interfaces.0.${problem}`),
    );
  });

  test.each<object>([{}, { source: "old" }, { source: null }])(
    "the source of the floating IP %j, in both directions",
    (floating_ip) => {
      expect(
        bothWays(previewInstancePrice.body, withInterface({ ...subnet, floating_ip })),
      ).toEqual(refused("interfaces.0.floating_ip.source: one of new, existing"));
    },
  );

  test.each<[string, object]>([
    ["source: required", {}],
    [`source: ${SOURCE_RULE}`, { source: "new" }],
    [`source: ${SOURCE_RULE}`, { source: null }],
    ["size: at least 1", { source: "image", size: 0 }],
    ["size: a whole number", { source: "image", size: 1.5 }],
    ["size: a number", { source: "image", size: "5" }],
    ["type_name: a string", { source: "image", type_name: 1 }],
    ["snapshot_id: required when source is snapshot", { source: "snapshot" }],
    ["snapshot_id: required when source is snapshot", { source: "snapshot", snapshot_id: null }],
    ["snapshot_id: a UUID", { source: "snapshot", snapshot_id: "s" }],
    ["image_id: a UUID", { source: "image", image_id: "ubuntu" }],
    ["name: unknown field", { source: "image", name: "boot" }],
  ])("%s of the volume %j", (problem, volume) => {
    expect(bothWays(previewInstancePrice.body, withVolume(volume))).toEqual(
      refused(`volumes.0.${problem}`),
    );
  });
});

describe("the reply to a price preview", () => {
  const perHour = {
    external_ip: 0.02,
    flavor: 0.8,
    floating_ip: 0.05,
    volumes: { standard: 0.1083 },
  };
  const preview = {
    currency_code: "EUR",
    discount_details: [{ discount: "0.105", resource: "instance" }],
    discount_percent: "10.50",
    per_hour: perHour,
    per_month: perHour,
    price_status: "show",
    price_without_discount_per_month: 734.4,
    tax_percent: 20,
    total_price_per_hour: 1.02,
    total_price_per_month: 734.4,
  };
  const read = (change: object) =>
    received(previewInstancePrice.response, JSON.stringify({ ...preview, ...change }));

  test.each<object>([
    { per_gb: { egress_traffic_baremetal: 0.05 }, vm_count: 2 },
    { per_gb: { egress_traffic_baremetal: null, egress_traffic_virtual: "0.01" } },
    { per_gb: null, currency_code: null, price_status: "error" },
    { total_price_per_hour: "1.02", total_price_per_month: "734.40" },
    { total_price_per_hour: null, total_price_per_month: null, discount_details: [] },
    { price_without_discount_per_month: null, tax_percent: 0, price_status: "hide" },
    { per_hour: {}, per_month: { volumes: null } },
    { per_hour: { external_ip: null, flavor: null, floating_ip: null, volumes: { cold: null } } },
    { per_month: { flavor: "576.00", volumes: { ssd_local: 0.1, ultra: "3.1" }, gpu: 1 } },
    { price_without_discount_per_month: "734.4", valid_until: "2027-01-01" },
  ])("parses unchanged with %j", (change) => {
    expect(read(change)).toEqual({ ...preview, ...change });
  });

  test.each([
    ["currency_code: one of AZN, EUR, USD", { currency_code: "GBP" }],
    ["price_status: one of error, hide, show", { price_status: "ok" }],
    ["discount_percent: a string", { discount_percent: 10.5 }],
    ["discount_details: a list, not null", { discount_details: null }],
    ["discount_details.0.resource: required", { discount_details: [{ discount: "0.1" }] }],
    [
      "discount_details.0.discount: a string",
      { discount_details: [{ discount: 1, resource: "" }] },
    ],
    ["per_hour: required", { per_hour: undefined }],
    ["per_month: an object, not null", { per_month: null }],
    ["price_without_discount_per_month: required", { price_without_discount_per_month: undefined }],
    ["tax_percent: required", { tax_percent: undefined }],
    ["total_price_per_hour: required", { total_price_per_hour: undefined }],
    ["total_price_per_month: required", { total_price_per_month: undefined }],
    ["vm_count: a whole number", { vm_count: 1.5 }],
  ])("is refused with %s", (problem, change) => {
    expect(read(change)).toEqual([problem]);
  });
});
