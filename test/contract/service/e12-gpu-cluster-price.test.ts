import { expect, test } from "vitest";
import { openTarget, place, refusedFields, UNKNOWN_ID } from "./target.ts";

const { call, own, one, elsewhere, pricesOf } = await openTarget();
const server = one("gpu_clusters");
const pathOf = ({ server_id, ...where }: typeof server) =>
  `/cloud/v1/pricing/${place(where)}/ai/clusters/${server_id}`;
const servers = own("gpu_clusters").map((known) => [known.name, known] as const);

test.each(servers)(
  "the price of %s is the sum of its flavor, volumes and addresses",
  async (_, known) => {
    const prices = pricesOf(known.region_id);
    const listed =
      (prices.flavors[known.flavor] ?? 0) +
      known.public_ips * prices.external_ip +
      known.volumes.reduce(
        (sum, { type_name, size }) => sum + size * (prices.volume_types[type_name] ?? 0),
        0,
      );
    const taxed = listed * (1 + prices.tax_percent / 100);
    const perHour = taxed * (1 - prices.discount_percent / 100);

    const { status, body } = await call("GET", pathOf(known));

    expect(status).toBe(200);
    expect(perHour).toBeGreaterThan(0);
    expect(body).toEqual({
      currency_code: prices.currency_code,
      discount_percent: expect.closeTo(prices.discount_percent / 100, 6),
      price_per_hour: expect.closeTo(perHour, 6),
      price_per_month: expect.closeTo(perHour * 720, 4),
      price_status: prices.price_status,
      price_without_discount_per_month: expect.closeTo(taxed * 720, 4),
      tax_percent: prices.tax_percent,
    });
  },
);

test.each(servers)(
  "the price of %s equals a preview of instances with the same parts",
  async (_, known) => {
    const preview = await call("POST", `/cloud/v2/pricing/${place(known)}/instances`, {
      body: {
        flavor: known.flavor,
        interfaces: Array(known.public_ips).fill({ type: "external" }),
        names: ["same"],
        volumes: known.volumes.map((volume) => ({ source: "new-volume", ...volume })),
      },
    });

    const { body } = await call("GET", pathOf(known));

    expect(preview.status).toBe(200);
    expect(body.price_per_hour).toBeCloseTo(preview.body.total_price_per_hour, 6);
    expect(body.price_per_month).toBeCloseTo(preview.body.total_price_per_month, 4);
  },
);

test.each([
  ...elsewhere(server).map(([name, where]) => [name, pathOf(server).replace(place(server), where)]),
  ["an unknown id", pathOf({ ...server, server_id: UNKNOWN_ID })],
])("a server returns 404 by %s", async (_, path) => {
  const answer = await call("GET", path);

  expect(answer.status).toBe(404);
  expect(answer.body.exception_class).toBe("NotFoundError");
});

test("a server id other than a UUID is refused", async () => {
  const refused = await call("GET", pathOf({ ...server, server_id: "my-server" }));

  expect(refusedFields(refused)).toEqual(["server_id"]);
});
