import { expect, test } from "vitest";
import type { PriceListRecord } from "../../../lib/service/state/prices.ts";
import { startService } from "./harness.ts";

/** A region without tax and discount. */
const PREVIEW = "/cloud/v2/pricing/1234567/76/instances";
/** A region with 17 % tax and 10.5 % discount. */
const TAXED_PREVIEW = "/cloud/v2/pricing/1186668/148/instances";

const ID = "b39792c3-3160-4356-912e-ba396c95cdcf";
const external = { type: "external" };

const order = { flavor: "g1-standard-1-2", interfaces: [], names: ["web"] };

const preview = async (change: object, path = PREVIEW) => {
  const { send } = await startService();
  const { body } = await send("POST", path, { body: { ...order, ...change } });
  return body;
};

const NO_VOLUMES = {
  cold: 0,
  ssd_hiiops: 0,
  ssd_lowlatency: 0,
  standard: 0,
  ultra: 0,
};

test("a preview contains every part of the order per hour and per month of 720 hours", async () => {
  const { send } = await startService();

  const answer = await send("POST", PREVIEW, {
    body: {
      flavor: "g1-standard-2-4",
      names: ["web-1", "web-2"],
      interfaces: [
        external,
        { type: "subnet", network_id: ID, subnet_id: ID, floating_ip: { source: "new" } },
      ],
      volumes: [
        { source: "image", image_id: ID, size: 10, type_name: "standard" },
        { source: "new-volume", size: 20, type_name: "ssd_hiiops" },
        { source: "new-volume", size: 5, type_name: "standard" },
      ],
    },
  });

  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    currency_code: "EUR",
    discount_details: [],
    discount_percent: "0.00",
    per_gb: { egress_traffic_baremetal: 0.05 },
    per_hour: {
      flavor: 0.08,
      external_ip: 0.04,
      floating_ip: 0.1,
      volumes: { ...NO_VOLUMES, standard: 0.00417, ssd_hiiops: 0.01112 },
    },
    per_month: {
      flavor: 57.6,
      external_ip: 28.8,
      floating_ip: 72,
      volumes: { ...NO_VOLUMES, standard: 3.0024, ssd_hiiops: 8.0064 },
    },
    price_status: "show",
    price_without_discount_per_month: 169.4088,
    tax_percent: 0,
    total_price_per_hour: 0.23529,
    total_price_per_month: 169.4088,
    vm_count: 2,
  });
});

test("totals include tax and discount, categories neither", async () => {
  const answer = await preview({ interfaces: [external] }, TAXED_PREVIEW);

  expect(answer).toEqual({
    currency_code: "EUR",
    discount_details: [{ resource: "instance", discount: "0.105" }],
    discount_percent: "10.50",
    per_gb: { egress_traffic_baremetal: 0.05 },
    per_hour: { flavor: 0.02, external_ip: 0.02, floating_ip: 0, volumes: NO_VOLUMES },
    per_month: { flavor: 14.4, external_ip: 14.4, floating_ip: 0, volumes: NO_VOLUMES },
    price_status: "show",
    price_without_discount_per_month: 33.696,
    tax_percent: 17,
    total_price_per_hour: 0.041886,
    total_price_per_month: 30.15792,
    vm_count: 1,
  });
});

test.each([
  ["one name", { names: ["a"] }, 1, 0.02],
  ["three names, two of them equal", { names: ["a", "a", "b"] }, 3, 0.06],
  ["a template", { names: undefined, name_templates: ["vm-{ip_octets}"] }, 1, 0.02],
  [
    "four templates, also empty ones",
    { names: undefined, name_templates: [null, "", "x", null] },
    4,
    0.08,
  ],
  ["no name", { names: [] }, 0, 0],
])("%s: the price is for that many instances", async (_, change, count, hour) => {
  const answer = await preview(change);

  expect(answer).toMatchObject({
    vm_count: count,
    per_hour: { flavor: hour },
    total_price_per_hour: hour,
  });
});

const previewWithPrices = async (change: Partial<PriceListRecord>, volumes: object[] = []) => {
  const { send } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      prices: builtIn.prices.map((list) => ({ ...list, ...change })),
    }),
  });
  return (await send("POST", PREVIEW, { body: { ...order, volumes } })).body;
};

test("currency, price status and traffic price come from the price list", async () => {
  const answer = await previewWithPrices({
    currency_code: null,
    price_status: "hide",
    egress_traffic_baremetal: null,
    volume_types: { standard: 1 },
  });

  expect(answer).toMatchObject({
    currency_code: null,
    price_status: "hide",
    per_gb: { egress_traffic_baremetal: null },
  });
  expect(answer.per_hour.volumes).toEqual(NO_VOLUMES);
});

test("a tiny discount is formatted in plain decimal digits", async () => {
  const answer = await previewWithPrices({ discount_percent: 0.00001 });

  expect(answer.discount_details).toEqual([{ resource: "instance", discount: "0.0000001" }]);
});

test("prices are added without floating point errors", async () => {
  const answer = await previewWithPrices(
    {
      flavors: { "g1-standard-1-2": 0.1 },
      volume_types: { standard: 0.1 },
    },
    [{ source: "image", size: 2 }],
  );

  expect(answer).toMatchObject({ total_price_per_hour: 0.3, total_price_per_month: 216 });
});

test.each([
  ["an unknown flavor", { flavor: "g9-quantum" }, "flavor"],
  ["no flavor's name", { flavor: "" }, "flavor"],
  ["the name of a built-in property", { flavor: "constructor" }, "flavor"],
  [
    "an unknown volume type",
    {
      volumes: [
        { source: "image", size: 1 },
        { source: "image", size: 1, type_name: "tape" },
      ],
    },
    "volumes.1.type_name",
  ],
  [
    "the name of a built-in property as a type",
    { volumes: [{ source: "image", size: 1, type_name: "toString" }] },
    "volumes.0.type_name",
  ],
])("%s is refused with the name of the field", async (_, change, field) => {
  const { send } = await startService();

  const refused = await send("POST", PREVIEW, { body: { ...order, ...change } });

  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({ exception_class: "ValidationError" });
  expect(refused.body.invalid_fields).toEqual({ [field]: ["is not offered in this region"] });
});

test.each([
  ["neither names nor templates", { names: undefined }],
  ["both", { name_templates: ["vm-{ip_octets}"] }],
  ["both, one of them empty", { name_templates: [] }],
])("%s are refused", async (_, change) => {
  const refused = await preview(change);

  expect(refused.invalid_fields).toEqual({
    names: ["give exactly one of names and name_templates"],
  });
});

test("a flavor is available if the region's present price list has it", async () => {
  const { send, clock } = await startService();
  const priceOf = async () =>
    (await send("POST", TAXED_PREVIEW, { body: order })).body.per_hour.flavor;
  const before = await priceOf();

  await clock.advance(Date.UTC(2027, 0, 1) - Date.UTC(2026, 0, 1));

  expect([before, await priceOf()]).toEqual([0.02, 0.025]);
});

test.each([
  ["a foreign project", "/cloud/v2/pricing/1337/76/instances", "project not found"],
  ["a region without prices", "/cloud/v2/pricing/1234567/77/instances", "region not found"],
])("a preview for %s returns 404", async (_, path, message) => {
  const { send } = await startService();

  const missing = await send("POST", path, { body: order });

  expect(missing.status).toBe(404);
  expect(missing.body).toMatchObject({ message });
});

test("a preview changes nothing", async () => {
  const { send, stored } = await startService();
  const before = await stored();

  await send("POST", PREVIEW, { body: order });

  expect(await stored()).toEqual(before);
});
