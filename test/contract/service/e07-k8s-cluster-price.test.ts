import { expect, test } from "vitest";
import { openTarget, place } from "./target.ts";

const { call, own, one, elsewhere, pricesOf } = await openTarget();
const cluster = one("k8s_clusters");
const pathOf = ({ name, ...where }: Pick<typeof cluster, "name" | "project_id" | "region_id">) =>
  `/cloud/v2/pricing/${place(where)}/k8s/clusters/${encodeURIComponent(name)}`;

interface ItemPrice {
  readonly price_per_hour: number;
  readonly price_per_month: number;
  readonly price_without_discount_per_month: number;
}
const AMOUNTS = ["price_per_hour", "price_per_month", "price_without_discount_per_month"] as const;
const clusters = own("k8s_clusters").map((known) => [known.name, known] as const);

test.each(clusters)("every amount in the total of %s is the sum of its parts", async (_, known) => {
  const { status, body } = await call("GET", pathOf(known));

  const parts: ItemPrice[] = [...body.instances, ...body.volumes, ...body.publicips];
  expect(status).toBe(200);
  for (const amount of AMOUNTS) {
    const sum = parts.reduce((total, part) => total + part[amount], 0);
    expect(sum).toBeGreaterThan(0);
    expect(body.total_price[amount]).toBeCloseTo(sum, 4);
  }
});

test.each(clusters)("each part of %s has its price from the price list", async (_, known) => {
  const prices = pricesOf(known.region_id);
  const share = (1 + prices.tax_percent / 100) * (1 - prices.discount_percent / 100);
  const perHour = (listPrices: (number | undefined)[]) =>
    listPrices.map((price) => ({ price_per_hour: expect.closeTo((price ?? 0) * share, 6) }));

  const { body } = await call("GET", pathOf(known));

  expect(body.instances).toMatchObject(perHour(known.nodes.map((node) => prices.flavors[node])));
  expect(body.volumes).toMatchObject(
    perHour(
      known.volumes.map(({ type_name, size }) => size * (prices.volume_types[type_name] ?? 0)),
    ),
  );
  expect(body.publicips).toMatchObject(perHour(Array(known.public_ips).fill(prices.external_ip)));
});

test.each(clusters)("every price of %s has the seven documented fields", async (_, known) => {
  const prices = pricesOf(known.region_id);

  const { body } = await call("GET", pathOf(known));

  const all = [body.total_price, ...body.instances, ...body.volumes, ...body.publicips];
  for (const price of all) {
    expect(price).toEqual({
      currency_code: prices.currency_code,
      discount_percent: expect.closeTo(prices.discount_percent / 100, 6),
      price_per_hour: expect.any(Number),
      price_per_month: expect.closeTo(price.price_per_hour * 720, 4),
      price_status: prices.price_status,
      price_without_discount_per_month: expect.any(Number),
      tax_percent: prices.tax_percent,
    });
  }
});

test.each([
  ...elsewhere(cluster).map(([name, where]) => [
    name,
    pathOf(cluster).replace(place(cluster), where),
  ]),
  ["an unknown name", pathOf({ ...cluster, name: "no-such-cluster" })],
])("a cluster returns 404 by %s", async (_, path) => {
  const answer = await call("GET", path);

  expect(answer.status).toBe(404);
  expect(answer.body.exception_class).toBe("NotFoundError");
});
