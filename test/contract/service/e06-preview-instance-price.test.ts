import { expect, test } from "vitest";
import type { Answer } from "../../support/http-exchange.ts";
import { openTarget, place, refusedFields, UNKNOWN_ID } from "./target.ts";

const { call, own, one, pricesOf } = await openTarget();
const home = one("instances");
const prices = pricesOf(home.region_id);
const PREVIEW = `/cloud/v2/pricing/${place(home)}/instances`;
const HOURS_PER_MONTH = 720;
const [flavor = ""] = Object.keys(prices.flavors);
const [volumeType = ""] = Object.keys(prices.volume_types);

const preview = async (order: object, path = PREVIEW): Promise<Answer["body"]> => {
  const answer = await call("POST", path, {
    body: { flavor, interfaces: [], names: ["web-1"], ...order },
  });
  expect(answer.status).toBe(200);
  return answer.body;
};

interface Categories {
  readonly [category: string]: number | Categories;
}
/** Matches every amount times a factor, except for the last binary digits. */
const times = (categories: Categories, factor: number): object =>
  Object.fromEntries(
    Object.entries(categories).map(([name, amount]) => [
      name,
      typeof amount === "number" ? expect.closeTo(amount * factor, 6) : times(amount, factor),
    ]),
  );
const sumOf = (categories: Categories): number =>
  Object.values(categories).reduce<number>(
    (sum, amount) => sum + (typeof amount === "number" ? amount : sumOf(amount)),
    0,
  );

const NO_VOLUMES = { cold: 0, ssd_hiiops: 0, ssd_lowlatency: 0, standard: 0, ultra: 0 };
const EXTERNAL = { type: "external", interface_name: "eth0", ip_family: "dual" };
const VARIANTS = [
  ["subnet", { type: "subnet", network_id: UNKNOWN_ID, subnet_id: UNKNOWN_ID }],
  ["any_subnet", { type: "any_subnet", network_id: UNKNOWN_ID, ip_address: "10.0.0.9" }],
  ["reserved_fixed_ip", { type: "reserved_fixed_ip", port_id: UNKNOWN_ID }],
] as const;

test("an instance without addresses and volumes costs its flavor, and 720 hours are a month", async () => {
  const body = await preview({});

  const nothingElse = { external_ip: 0, floating_ip: 0, volumes: NO_VOLUMES };
  const perHour = { flavor: prices.flavors[flavor] ?? 0, ...nothingElse };
  expect(perHour.flavor).toBeGreaterThan(0);
  expect(body.per_hour).toEqual(times(perHour, 1));
  expect(body.per_month).toEqual(times(perHour, HOURS_PER_MONTH));
  expect(body).toMatchObject({
    vm_count: 1,
    currency_code: prices.currency_code,
    per_gb: { egress_traffic_baremetal: prices.egress_traffic_baremetal },
  });
});

test("an external interface adds an address of the external network", async () => {
  const body = await preview({ interfaces: [EXTERNAL, EXTERNAL] });

  expect(body.per_hour.external_ip).toBeCloseTo(2 * prices.external_ip, 6);
  expect(body.per_hour.floating_ip).toBe(0);
});

test.each(VARIANTS)(
  "an interface of type %s adds the price of a new floating IP",
  async (_, one) => {
    const existing = { source: "existing", existing_floating_id: UNKNOWN_ID };

    const [made, kept, none] = [
      await preview({ interfaces: [{ ...one, floating_ip: { source: "new" } }] }),
      await preview({ interfaces: [{ ...one, floating_ip: existing }] }),
      await preview({ interfaces: [one] }),
    ];

    expect(made.per_hour.floating_ip).toBeCloseTo(prices.floating_ip, 6);
    expect([kept.per_hour.floating_ip, none.per_hour.floating_ip]).toEqual([0, 0]);
    expect([made, kept, none].map(({ per_hour }) => per_hour.external_ip)).toEqual([0, 0, 0]);
  },
);

test("the price of a volume depends on type and size, not on its source", async () => {
  const body = await preview({
    volumes: [
      { source: "new-volume", size: 10, type_name: volumeType },
      { source: "image", size: 20, type_name: volumeType, image_id: UNKNOWN_ID },
      { source: "snapshot", size: 30, type_name: volumeType, snapshot_id: UNKNOWN_ID },
      { source: "apptemplate", size: 40, type_name: volumeType },
      { source: "existing-volume", size: 50, type_name: volumeType },
    ],
  });

  const perGib = prices.volume_types[volumeType] ?? 0;
  expect(perGib).toBeGreaterThan(0);
  expect(body.per_hour.volumes).toEqual(times({ ...NO_VOLUMES, [volumeType]: 100 * perGib }, 1));
});

const WHOLE_ORDER = {
  interfaces: [EXTERNAL, { ...VARIANTS[0][1], floating_ip: { source: "new" } }],
  volumes: Object.keys(prices.volume_types).map((type_name, index) => ({
    source: "new-volume",
    size: index + 1,
    type_name,
  })),
};

test.each(own("instances").map((instance) => [instance.region, instance] as const))(
  "in %s the totals are the sum of the categories, less discount, plus tax",
  async (_, instance) => {
    const { discount_percent, tax_percent } = pricesOf(instance.region_id);

    const body = await preview(WHOLE_ORDER, `/cloud/v2/pricing/${place(instance)}/instances`);

    const taxed = sumOf(body.per_hour) * (1 + tax_percent / 100);
    const perHour = taxed * (1 - discount_percent / 100);
    expect(perHour).toBeGreaterThan(0);
    expect(body.per_month).toEqual(times(body.per_hour, HOURS_PER_MONTH));
    expect(body.total_price_per_hour).toBeCloseTo(perHour, 6);
    expect(body.total_price_per_month).toBeCloseTo(perHour * HOURS_PER_MONTH, 4);
    expect(body.price_without_discount_per_month).toBeCloseTo(taxed * HOURS_PER_MONTH, 4);
    expect(body).toMatchObject({ tax_percent, price_status: prices.price_status });
    expect(body.discount_percent).toMatch(/^\d+(\.\d+)?$/);
    expect(Number(body.discount_percent)).toBe(discount_percent);
    for (const { discount, resource } of body.discount_details) {
      expect([typeof discount, typeof resource]).toEqual(["string", "string"]);
    }
    expect(body.discount_details.length > 0).toBe(discount_percent > 0);
  },
);

test.each([
  ["names", { names: ["web-1", "web-2", "web-3"] }],
  ["name_templates", { names: undefined, name_templates: ["web-{ip_octets}", null, "db"] }],
])("three %s are three instances and cost three times as much", async (_, naming) => {
  const single = await preview(WHOLE_ORDER);

  const triple = await preview({ ...WHOLE_ORDER, ...naming });

  expect([single.vm_count, triple.vm_count]).toEqual([1, 3]);
  expect(triple.per_hour).toEqual(times(single.per_hour, 3));
  expect(triple.total_price_per_hour).toBeCloseTo(3 * single.total_price_per_hour, 6);
  expect(triple.total_price_per_month).toBeCloseTo(3 * single.total_price_per_month, 4);
});

test.each([
  ["names", { names: undefined }],
  ["names", { name_templates: ["web-{ip_octets}"] }],
  ["names", { names: "web-1" }],
  ["flavor", { flavor: undefined }],
  ["flavor", { flavor: "no-such-flavor" }],
  ["flavor", { flavor: "toString" }],
  ["interfaces", { interfaces: undefined }],
  ["interfaces.0.type", { interfaces: [{ type: "internal" }] }],
  [
    "interfaces.0.interface_name",
    { interfaces: [{ ...EXTERNAL, interface_name: "e".repeat(38) }] },
  ],
  ["interfaces.0.subnet_id", { interfaces: [{ type: "subnet", network_id: UNKNOWN_ID }] }],
  ["interfaces.0.network_id", { interfaces: [{ type: "any_subnet" }] }],
  ["interfaces.0.port_id", { interfaces: [{ type: "reserved_fixed_ip" }] }],
  ["volumes.0.source", { volumes: [{ size: 1 }] }],
  ["volumes.0.size", { volumes: [{ source: "new-volume", size: 0 }] }],
  ["volumes.0.snapshot_id", { volumes: [{ source: "snapshot", size: 1 }] }],
  ["volumes.0.type_name", { volumes: [{ source: "new-volume", size: 1, type_name: "tape" }] }],
  ["vm_count", { vm_count: 2 }],
])("an order that breaks a rule of %s is refused with that field: %o", async (field, order) => {
  const body = { flavor, interfaces: [], names: ["web-1"], ...order };

  const refused = await call("POST", PREVIEW, { body });

  expect(refusedFields(refused)).toEqual([field]);
});

test.each([
  ["a region that does not exist", `${home.project_id}/999999`],
  ["a project that does not exist", `999999999/${home.region_id}`],
])("a preview returns 404 in %s", async (_, where) => {
  const answer = await call("POST", `/cloud/v2/pricing/${where}/instances`, {
    body: { flavor, interfaces: [], names: ["web-1"] },
  });

  expect(answer.status).toBe(404);
  expect(answer.body.exception_class).toBe("NotFoundError");
});
