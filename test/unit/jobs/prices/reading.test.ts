import { describe, expect, test } from "vitest";
import { k8sClusterReading } from "../../../../lib/jobs/prices/reading.ts";
import type { State } from "../../../../lib/service/state/state.ts";
import { startService } from "../../service/harness.ts";
import { DDOS, GPU, K8S, WEB } from "./price-world.ts";
import { readFrom, readingOf, readingOfText } from "./read-price.ts";

const inOtherRegion = (item: string): string =>
  item
    .replace("1234567", "1186668")
    .replace("76", "148")
    .replace("my-cluster", "my-other-cluster")
    .replace("daafce64872b", "daafce64872c");

const withPrices =
  (change: Partial<State["prices"][number]>) =>
  (builtIn: State): State => ({
    ...builtIn,
    prices: builtIn.prices.map((list) => ({ ...list, ...change })),
  });

const NO_VOLUMES = {
  "per_hour.volumes.cold": "0",
  "per_hour.volumes.ssd_hiiops": "0",
  "per_hour.volumes.ssd_lowlatency": "0",
  "per_hour.volumes.standard": "0",
  "per_hour.volumes.ultra": "0",
  "per_month.volumes.cold": "0",
  "per_month.volumes.ssd_hiiops": "0",
  "per_month.volumes.ssd_lowlatency": "0",
  "per_month.volumes.standard": "0",
  "per_month.volumes.ultra": "0",
};

describe("the reading of an order of instances", () => {
  test("has the totals, the terms, and every category by hour and month", async () => {
    expect(await readingOf(inOtherRegion(WEB))).toEqual({
      status: "show",
      currency: "EUR",
      amounts: {
        "total.per_hour": "0.041886",
        "total.per_month": "30.15792",
        "total.per_month_without_discount": "33.696",
        discount_percent: "10.5",
        tax_percent: "17",
        ...NO_VOLUMES,
        "per_hour.external_ip": "0.02",
        "per_hour.flavor": "0.02",
        "per_hour.floating_ip": "0",
        "per_month.external_ip": "14.4",
        "per_month.flavor": "14.4",
        "per_month.floating_ip": "0",
        "per_gb.egress_traffic_baremetal": "0.05",
      },
    });
  });

  test("has volume types that the interface does not list", async () => {
    const local = WEB.replace(
      "names: [web]",
      "names: [web], volumes: [{ source: image, size: 10, type_name: ssd_local }]",
    );

    expect((await readingOf(local)).amounts).toMatchObject({
      "per_hour.volumes.ssd_local": "0.002",
      "per_month.volumes.ssd_local": "1.44",
    });
  });

  test("has null for an amount that the provider leaves out", async () => {
    const reading = await readingOf(
      WEB,
      withPrices({ egress_traffic_baremetal: null, currency_code: null }),
    );

    expect(reading).toMatchObject({
      currency: null,
      amounts: { "per_gb.egress_traffic_baremetal": null },
    });
  });

  const reply = {
    currency_code: "EUR",
    discount_details: [],
    discount_percent: "0.00",
    per_hour: {},
    per_month: {},
    price_status: "show",
    price_without_discount_per_month: "72.50",
    tax_percent: 0,
    total_price_per_hour: "0.10",
    total_price_per_month: 72.5,
  };

  test("accepts amounts as numbers and as decimal text, and keeps one notation", async () => {
    expect((await readingOfText(WEB, JSON.stringify(reply))).amounts).toEqual({
      "total.per_hour": "0.1",
      "total.per_month": "72.5",
      "total.per_month_without_discount": "72.5",
      discount_percent: "0",
      tax_percent: "0",
    });
  });

  test("leaves out values that are no amounts, and names that are not plain", async () => {
    const odd = {
      ...reply,
      per_hour: { flavor: 1, volumes: null, note: "free", flags: [1], "a b": 1, "\u001b": 1 },
    };

    const { amounts } = await readingOfText(WEB, JSON.stringify(odd));

    expect(Object.keys(amounts).filter((name) => name.startsWith("per_hour"))).toEqual([
      "per_hour.flavor",
      "per_hour.volumes",
    ]);
  });
});

describe("the reading of a Kubernetes cluster", () => {
  test("has the total and each part by its position", async () => {
    expect(await readingOf(inOtherRegion(K8S))).toEqual({
      status: "show",
      currency: "EUR",
      amounts: {
        "total.per_hour": "0.1538786925",
        "total.per_month": "110.7926586",
        "total.per_month_without_discount": "123.79068",
        discount_percent: "0.105",
        tax_percent: "17",
        "instances.0.per_hour": "0.104715",
        "instances.0.per_month": "75.3948",
        "instances.0.per_month_without_discount": "84.24",
        "volumes.0.per_hour": "0.0072776925",
        "volumes.0.per_month": "5.2399386",
        "volumes.0.per_month_without_discount": "5.85468",
        "publicips.0.per_hour": "0.020943",
        "publicips.0.per_month": "15.07896",
        "publicips.0.per_month_without_discount": "16.848",
        "publicips.1.per_hour": "0.020943",
        "publicips.1.per_month": "15.07896",
        "publicips.1.per_month_without_discount": "16.848",
      },
    });
  });

  test("that the provider could not price is an error without a total", async () => {
    const reading = await readingOf(K8S, withPrices({ volume_types: {} }));

    expect(reading).toMatchObject({
      status: "error",
      amounts: {
        "total.per_month": null,
        "volumes.0.per_month": null,
        "instances.0.per_month": "28.8",
      },
    });
  });

  test("of more parts than a record can hold has the total and the first parts", () => {
    const price = {
      currency_code: "EUR",
      discount_percent: 0,
      price_per_hour: 1,
      price_per_month: 720,
      price_status: "show",
      price_without_discount_per_month: 720,
      tax_percent: 0,
    } as const;
    const instances = Array.from({ length: 2_000 }, () => price);

    const { amounts } = k8sClusterReading({
      instances,
      publicips: [],
      volumes: [],
      total_price: price,
    });

    expect(Object.keys(amounts)).toHaveLength(2_000);
    expect(amounts["total.per_month"]).toBe("720");
    expect(amounts["instances.664.per_month"]).toBe("720");
  });
});

test("the reading of a GPU server has its total", async () => {
  expect(await readingOf(GPU)).toEqual({
    status: "show",
    currency: "EUR",
    amounts: {
      "total.per_hour": "24.02",
      "total.per_month": "17294.4",
      "total.per_month_without_discount": "17294.4",
      discount_percent: "0",
      tax_percent: "0",
    },
  });
});

describe("the reading of DDoS protection", () => {
  test("has the price for each period, and nothing that changes with the date", async () => {
    const { service, clock } = await startService();
    const first = await readFrom(DDOS, service.fetch);
    await clock.advance(40 * 24 * 3_600_000);

    const later = await readFrom(DDOS, service.fetch);

    expect(first).toEqual({
      status: "show",
      currency: "EUR",
      amounts: {
        price_per_hour: "0.08333333333333333",
        price_per_day: "2",
        price_per_30d: "60",
        unit_size: "1",
      },
    });
    expect(later).toEqual(first);
  });

  test("has null for a period without a price", async () => {
    const reply = {
      current_month_days: 31,
      current_month_days_last: 30,
      next_month_days: 28,
      price: {
        feature_name: "f",
        period: "day",
        price_currency: "XAU",
        unit_name: "PC",
        unit_size: 10,
        price_per_day: "2.50",
        price_per_hour: null,
      },
    };

    expect(await readingOfText(DDOS, JSON.stringify(reply))).toMatchObject({
      currency: "XAU",
      amounts: { price_per_hour: null, price_per_day: "2.5", price_per_30d: null, unit_size: "10" },
    });
  });
});
