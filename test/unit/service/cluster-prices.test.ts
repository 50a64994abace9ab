import { describe, expect, test } from "vitest";
import type { PriceListRecord } from "../../../lib/service/state/prices.ts";
import type { State } from "../../../lib/service/state/state.ts";
import { startService } from "./harness.ts";

const CLUSTER = "/cloud/v2/pricing/1234567/76/k8s/clusters/my-cluster";
const TAXED_CLUSTER = "/cloud/v2/pricing/1186668/148/k8s/clusters/my-other-cluster";
const SERVER = "/cloud/v1/pricing/1234567/76/ai/clusters/f1c1eeb6-1834-48c9-a7b0-daafce64872b";
const TAXED_SERVER =
  "/cloud/v1/pricing/1186668/148/ai/clusters/f1c1eeb6-1834-48c9-a7b0-daafce64872c";

/** Price in the region without tax and discount. */
const plain = (price_per_hour: number, price_per_month: number) => ({
  currency_code: "EUR",
  discount_percent: 0,
  price_per_hour,
  price_per_month,
  price_status: "show",
  price_without_discount_per_month: price_per_month,
  tax_percent: 0,
});
/** Price in the region with 17 % tax and 10.5 % discount. */
const taxed = (hour: number | null, month: number | null, withoutDiscount: number | null) => ({
  currency_code: "EUR",
  discount_percent: 0.105,
  price_per_hour: hour,
  price_per_month: month,
  price_status: "show",
  price_without_discount_per_month: withoutDiscount,
  tax_percent: 17,
});
const unknown = { ...taxed(null, null, null), price_status: "error" };

/** Starts the service with changed copies of one region's price list and with both clusters in that region. */
const startWithPrices = (
  changes: readonly Partial<PriceListRecord>[],
  nodes: readonly string[] = ["g1-standard-1-2"],
) =>
  startService({
    state: (builtIn): State => ({
      ...builtIn,
      prices: changes.map((change) => ({ ...builtIn.prices[1]!, ...change })),
      k8s_clusters: builtIn.k8s_clusters.map((one) => ({
        ...one,
        nodes: [...nodes],
        public_ips: 0,
        volumes: [],
      })),
      gpu_clusters: builtIn.gpu_clusters.map((one) => ({
        ...one,
        flavor: nodes[0]!,
        public_ips: 0,
        volumes: [],
      })),
    }),
  });

test("each node, volume and address of a cluster has its price, and the total is their sum", async () => {
  const { send } = await startService();

  const answer = await send("GET", CLUSTER);

  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    instances: [plain(0.04, 28.8), plain(0.04, 28.8), plain(0.08, 57.6)],
    publicips: [plain(0.02, 14.4)],
    volumes: [plain(0.00695, 5.004), plain(0.00695, 5.004), plain(0.0278, 20.016)],
    total_price: plain(0.2217, 159.624),
  });
});

test("every price of a cluster includes tax and discount, except the undiscounted month with tax only", async () => {
  const { send } = await startService();

  const answer = await send("GET", TAXED_CLUSTER);

  const address = taxed(0.020943, 15.07896, 16.848);
  expect(answer.body).toEqual({
    instances: [taxed(0.104715, 75.3948, 84.24)],
    publicips: [address, address],
    volumes: [taxed(0.0072776925, 5.2399386, 5.85468)],
    total_price: taxed(0.1538786925, 110.7926586, 123.79068),
  });
});

test("a GPU server has one price: its flavor, volumes and addresses together", async () => {
  const { send } = await startService();

  const bare = await send("GET", SERVER);
  const virtual = await send("GET", TAXED_SERVER);

  expect(bare.body).toEqual(plain(24.02, 17294.4));
  expect(virtual.body).toEqual(taxed(2.438288775, 1755.567918, 1961.5284));
});

test("a cluster without parts costs nothing", async () => {
  const { send } = await startWithPrices([{}], []);

  const { body } = await send("GET", TAXED_CLUSTER);

  expect(body).toEqual({ instances: [], publicips: [], volumes: [], total_price: taxed(0, 0, 0) });
});

describe("a part without a price in the list", () => {
  test.each(["g9-quantum", "constructor"])(
    "gives a node of a cluster the price status error: %s",
    async (flavor) => {
      const { send } = await startWithPrices([{}], ["g2-standard-4-8", flavor]);

      const { status, body } = await send("GET", TAXED_CLUSTER);

      expect(status).toBe(200);
      expect(body.instances).toEqual([taxed(0.104715, 75.3948, 84.24), unknown]);
      expect(body.total_price).toEqual(unknown);
    },
  );

  test("gives a volume of a cluster the price status error, and other parts keep their price", async () => {
    const { send } = await startService({
      state: (builtIn) => ({
        ...builtIn,
        prices: builtIn.prices.map((list) => ({ ...list, volume_types: { cold: 1 } })),
      }),
    });

    const { body } = await send("GET", TAXED_CLUSTER);

    expect(body.volumes).toEqual([unknown]);
    expect(body.instances).toEqual([taxed(0.104715, 75.3948, 84.24)]);
    expect(body.total_price).toEqual(unknown);
  });

  test("gives a GPU server the price status error", async () => {
    const { send } = await startWithPrices([{}], ["g9-quantum"]);

    expect((await send("GET", TAXED_SERVER)).body).toEqual(unknown);
  });
});

test("currency and price status come from the price list", async () => {
  const { send } = await startWithPrices([{ currency_code: null, price_status: "hide" }]);

  const cluster = await send("GET", TAXED_CLUSTER);
  const server = await send("GET", TAXED_SERVER);

  const hidden = { currency_code: null, price_status: "hide", price_per_hour: 0.020943 };
  expect(cluster.body.instances).toMatchObject([hidden]);
  expect(cluster.body.total_price).toMatchObject(hidden);
  expect(server.body).toMatchObject(hidden);
});

test("a later price list applies exactly from its start", async () => {
  const taxFree = { tax_percent: 0, discount_percent: 0 };
  const { send, clock } = await startWithPrices([
    { ...taxFree, starts_at: "2026-03-01T01:00:00+01:00", flavors: { "g1-standard-1-2": 3 } },
    { ...taxFree, starts_at: null, flavors: { "g1-standard-1-2": 1 } },
    { ...taxFree, starts_at: "2026-02-01T00:00:00Z", flavors: { "g1-standard-1-2": 2 } },
  ]);
  const hours: number[] = [];
  let now = "2026-01-01T00:00:00Z";

  for (const at of [
    "2026-01-31T23:59:59.999Z",
    "2026-02-01T00:00:00Z",
    "2026-02-28T23:59:59.999Z",
    "2026-03-01T00:00:00Z",
    "2036-01-01T00:00:00Z",
  ]) {
    await clock.advance(Date.parse(at) - Date.parse(now));
    now = at;
    hours.push((await send("GET", TAXED_CLUSTER)).body.total_price.price_per_hour);
    expect((await send("GET", TAXED_SERVER)).body.price_per_hour).toBe(hours.at(-1));
  }

  expect(hours).toEqual([1, 2, 2, 3, 3]);
});

test("a region does not exist before its first price list starts", async () => {
  const { send } = await startWithPrices([{ starts_at: "2026-01-01T00:00:00.001Z" }]);

  const missing = await send("GET", TAXED_CLUSTER);

  expect(missing.status).toBe(404);
  expect(missing.body).toMatchObject({ message: "region not found" });
});

test.each([
  ["a cluster of an unknown name", "/cloud/v2/pricing/1234567/76/k8s/clusters/nobody", "cluster"],
  [
    "a cluster of another region",
    "/cloud/v2/pricing/1234567/148/k8s/clusters/my-cluster",
    "cluster",
  ],
  [
    "a cluster of another project",
    "/cloud/v2/pricing/1186668/76/k8s/clusters/my-cluster",
    "cluster",
  ],
  [
    "a cluster of a foreign project",
    "/cloud/v2/pricing/1337/76/k8s/clusters/my-cluster",
    "cluster",
  ],
  ["an unknown server", SERVER.replace("f1c1eeb6", "00000000"), "server"],
  ["a server of another region", SERVER.replace("/76/", "/148/"), "server"],
  ["a server of another project", SERVER.replace("1234567", "1186668"), "server"],
  ["a server of a foreign project", SERVER.replace("1234567", "1337"), "server"],
])("the price of %s is 404", async (_, path, what) => {
  const { send } = await startService();

  const missing = await send("GET", path);

  expect(missing.status).toBe(404);
  expect(missing.body).toMatchObject({
    exception_class: "NotFoundError",
    message: `${what} not found`,
  });
});

test("a GPU server is found by its id in any letter case, and text other than a UUID is refused", async () => {
  const { send } = await startService();

  const found = await send("GET", SERVER.replace("f1c1eeb6", "F1C1EEB6"));
  const refused = await send("GET", "/cloud/v1/pricing/1234567/76/ai/clusters/my-gpu-server");

  expect(found.status).toBe(200);
  expect(refused.body.invalid_fields).toEqual({ server_id: ["a UUID"] });
});
