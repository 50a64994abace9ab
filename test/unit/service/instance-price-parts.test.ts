import { describe, expect, test } from "vitest";
import { startService } from "./harness.ts";

const ID = "b39792c3-3160-4356-912e-ba396c95cdcf";
const external = { type: "external" };
const subnet = { type: "subnet", network_id: ID, subnet_id: ID };
const anySubnet = { type: "any_subnet", network_id: ID };
const reserved = { type: "reserved_fixed_ip", port_id: "port-1" };
const newIp = { source: "new" };
const existingIp = { source: "existing", existing_floating_id: ID };

/** A region without tax and discount. */
const preview = async (change: object) => {
  const { send } = await startService();
  const body = { flavor: "g1-standard-1-2", interfaces: [], names: ["web"], ...change };
  return (await send("POST", "/cloud/v2/pricing/1234567/76/instances", { body })).body;
};

describe("the price of the interfaces of two instances", () => {
  test.each<[string, object[], number, number, number]>([
    ["there are none, so nothing is charged", [], 0, 0, 0.04],
    ["an external one is charged", [external], 0.04, 0, 0.08],
    [
      "two external ones are charged twice",
      [external, { ...external, ip_family: "dual" }],
      0.08,
      0,
      0.12,
    ],
    ["one in a subnet is free", [subnet], 0, 0, 0.04],
    ["one in any subnet is free", [anySubnet], 0, 0, 0.04],
    ["one with a reserved address is free", [reserved], 0, 0, 0.04],
    [
      "a new floating address on a subnet is charged",
      [{ ...subnet, floating_ip: newIp }],
      0,
      0.1,
      0.14,
    ],
    ["a new one on any subnet is charged", [{ ...anySubnet, floating_ip: newIp }], 0, 0.1, 0.14],
    [
      "a new one on a reserved address is charged",
      [{ ...reserved, floating_ip: newIp }],
      0,
      0.1,
      0.14,
    ],
    [
      "one that exists is not",
      [
        { ...subnet, floating_ip: existingIp },
        { ...anySubnet, floating_ip: existingIp },
        { ...reserved, floating_ip: existingIp },
      ],
      0,
      0,
      0.04,
    ],
    ["a null floating_ip is free", [{ ...subnet, floating_ip: null }], 0, 0, 0.04],
    [
      "all are added up",
      [external, { ...subnet, floating_ip: newIp }, { ...reserved, floating_ip: newIp }, anySubnet],
      0.04,
      0.2,
      0.28,
    ],
  ])("%s", async (_, interfaces, external_ip, floating_ip, total) => {
    const answer = await preview({ interfaces, names: ["a", "b"] });

    expect(answer.per_hour).toMatchObject({ external_ip, floating_ip });
    expect(answer.total_price_per_hour).toBe(total);
  });
});

test.each<[string, object[], object, number]>([
  [
    "a volume without a type costs the standard type",
    [{ source: "image", size: 100 }],
    { standard: 0.0139 },
    0.0339,
  ],
  [
    "a volume with type null costs the standard type",
    [{ source: "image", size: 100, type_name: null }],
    { standard: 0.0139 },
    0.0339,
  ],
  [
    "a volume without a size is free",
    [
      { source: "image", type_name: "cold" },
      { source: "image", size: null },
    ],
    {},
    0.02,
  ],
  [
    "an existing volume is free",
    [{ source: "existing-volume", size: 100, type_name: "made-elsewhere" }],
    {},
    0.02,
  ],
  [
    "prices of one type are added up, other types are separate",
    [
      { source: "new-volume", size: 1, type_name: "ultra" },
      { source: "snapshot", snapshot_id: ID, size: 2, type_name: "cold" },
      { source: "apptemplate", size: 3, type_name: "ultra" },
      { source: "new-volume", size: 1000, type_name: "ssd_lowlatency" },
      { source: "new-volume", size: 10, type_name: "ssd_local" },
    ],
    { ultra: 0.002, cold: 0.0002166, ssd_lowlatency: 0.417, ssd_local: 0.002 },
    0.4412166,
  ],
])("the price of volumes: %s", async (_, volumes, expected, total) => {
  const answer = await preview({ volumes });

  expect(answer.per_hour.volumes).toEqual({
    cold: 0,
    ssd_hiiops: 0,
    ssd_lowlatency: 0,
    standard: 0,
    ultra: 0,
    ...expected,
  });
  expect(answer.total_price_per_hour).toBe(total);
});

test("an order is refused if its price is too large for a JSON number", async () => {
  const order = (size: number) =>
    preview({
      volumes: Array(10).fill({ source: "new-volume", type_name: "ssd_lowlatency", size }),
    });

  const large = await order(1e12);
  const tooLarge = await order(Number.MAX_SAFE_INTEGER);

  expect(large.price_status).toBe("show");
  expect(tooLarge.invalid_fields).toEqual({
    volumes: ["the total price is too large for a JSON number"],
  });
});
