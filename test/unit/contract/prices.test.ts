import { describe, expect, test } from "vitest";
import {
  getDdosPrice,
  getGpuClusterPrice,
  getK8sClusterPrice,
} from "../../../lib/contract/prices.ts";
import { accepted, bothWays, received, refused } from "./both-ways.ts";

const SERVER_ID = "f1c1eeb6-1834-48c9-a7b0-daafce64872b";
const price = {
  currency_code: "EUR",
  discount_percent: 0.16,
  price_per_hour: 1,
  price_per_month: 720,
  price_status: "show",
  price_without_discount_per_month: 604.8,
  tax_percent: 20,
};

describe("one price", () => {
  const read = (reply: unknown) => received(getGpuClusterPrice.response, JSON.stringify(reply));

  test.each<[string, object]>([
    ["as the document shows it", price],
    ["in manats", { ...price, currency_code: "AZN" }],
    ["in dollars, hidden", { ...price, currency_code: "USD", price_status: "hide" }],
    ["that is zero or below", { ...price, price_per_hour: 0, price_per_month: -0.5 }],
    [
      "with the status error and without amounts",
      {
        ...price,
        currency_code: null,
        discount_percent: null,
        price_per_hour: null,
        price_per_month: null,
        price_without_discount_per_month: null,
        price_status: "error",
      },
    ],
    [
      "with amounts as decimal text",
      {
        ...price,
        price_per_hour: "1.02",
        price_per_month: "734",
        price_without_discount_per_month: "-0.5",
      },
    ],
    [
      "with percentages of more digits than floating point keeps",
      {
        ...price,
        discount_percent: "0.16666666666666666666",
        tax_percent: "17.12345678901234567890",
      },
    ],
    ["with an unknown field", { ...price, unit: "server" }],
  ])("%s parses unchanged", (_, reply) => {
    expect(read(reply)).toEqual(reply);
  });

  test.each([
    ["currency_code: one of AZN, EUR, USD", { currency_code: "GBP" }],
    ["currency_code: one of AZN, EUR, USD", { currency_code: "eur" }],
    ["discount_percent: a number", { discount_percent: "0.16" }],
    ["price_per_hour: required", { price_per_hour: undefined }],
    ["price_per_month: required", { price_per_month: undefined }],
    ["price_without_discount_per_month: required", { price_without_discount_per_month: undefined }],
    ["price_status: one of error, hide, show", { price_status: "SHOW" }],
    ["price_status: one of error, hide, show", { price_status: null }],
    ["tax_percent: a number, not null", { tax_percent: null }],
    ["tax_percent: required", { tax_percent: undefined }],
  ])("is refused with %s", (problem, change) => {
    expect(read({ ...price, ...change })).toEqual([problem]);
  });

  test.each(["", "1,5", "1.", ".5", "1e3", " 1", "1\n", "+1", "free", true, [], {}])(
    "is refused when an amount is %j",
    (amount) => {
      for (const field of [
        "price_per_hour",
        "price_per_month",
        "price_without_discount_per_month",
      ]) {
        expect(read({ ...price, [field]: amount })).toEqual([expect.stringMatching(`^${field}: `)]);
      }
    },
  );
});

describe("the price of a Kubernetes cluster", () => {
  const cluster = {
    instances: [price],
    publicips: [],
    total_price: price,
    volumes: [price, price],
  };
  const read = (reply: unknown) => received(getK8sClusterPrice.response, JSON.stringify(reply));

  test("parses with all of its parts and with additional fields", () => {
    expect(read(cluster)).toEqual(cluster);
    expect(read({ ...cluster, load_balancers: [] })).toEqual({ ...cluster, load_balancers: [] });
  });

  test.each([
    ["instances: required", { instances: undefined }],
    ["publicips: a list, not null", { publicips: null }],
    ["volumes: required", { volumes: undefined }],
    ["total_price: required", { total_price: undefined }],
    ["volumes.0.tax_percent: required", { volumes: [{ ...price, tax_percent: undefined }] }],
  ])("is refused with %s", (problem, change) => {
    expect(read({ ...cluster, ...change })).toEqual([problem]);
  });
});

describe("the price of DDoS protection", () => {
  const unit = {
    feature_name: "Advanced DDoS Protection Bare-metal Servers",
    period: "day",
    price_currency: "EUR",
    unit_name: "PC",
    unit_size: 1,
  };
  const ddos = (change: object) => ({
    current_month_days: 31,
    current_month_days_last: 26,
    next_month_days: 30,
    price: { ...unit, ...change },
  });
  const read = (reply: unknown) => received(getDdosPrice.response, JSON.stringify(reply));

  test.each<object>([
    { price_per_30d: 60, price_per_day: 2, price_per_hour: 0.08333333333333333 },
    { price_per_30d: "60", price_per_day: "2.00", price_per_hour: "0.0833" },
    { price_per_30d: null, price_per_day: null, price_per_hour: null },
    {},
    { price_currency: "GBP" },
    { price_currency: "XAU", rounding: "up" },
  ])("parses with %j", (change) => {
    expect(read(ddos(change))).toEqual(ddos(change));
  });

  test.each(["eur", "EURO", "EU", "", "E1R"])("is refused in the currency %j", (price_currency) => {
    expect(read(ddos({ price_currency }))).toEqual([
      expect.stringMatching("^price.price_currency: "),
    ]);
  });

  test.each([
    ["current_month_days: required", { ...ddos({}), current_month_days: undefined }],
    ["current_month_days_last: a whole number", { ...ddos({}), current_month_days_last: 26.5 }],
    ["next_month_days: a number", { ...ddos({}), next_month_days: "30" }],
    ["price: required", { ...ddos({}), price: undefined }],
    ["price.price_currency: a string, not null", ddos({ price_currency: null })],
    ["price.feature_name: required", ddos({ feature_name: undefined })],
    ["price.period: required", ddos({ period: undefined })],
    ["price.unit_name: required", ddos({ unit_name: undefined })],
    ["price.unit_size: a whole number", ddos({ unit_size: 1.5 })],
  ])("is refused with %s", (problem, reply) => {
    expect(read(reply)).toEqual([problem]);
  });
});

test("a Kubernetes cluster is identified by project, region and name", () => {
  const path = { project_id: 1, region_id: 2, cluster_name: "größe/1" };

  expect(bothWays(getK8sClusterPrice.params, path)).toEqual(accepted(path));
  expect(bothWays(getK8sClusterPrice.params, { ...path, cluster_name: ".." })).toEqual(
    refused("cluster_name: must not be . or .."),
  );
  expect(bothWays(getK8sClusterPrice.params, { ...path, cluster_name: "" })).toEqual(
    refused("cluster_name: must not be empty"),
  );
});

test("a GPU server is identified by project, region and a UUID in any letter case", () => {
  const path = { project_id: 1, region_id: 2, server_id: SERVER_ID };

  expect(bothWays(getGpuClusterPrice.params, path)).toEqual(accepted(path));
  expect(
    bothWays(getGpuClusterPrice.params, { ...path, server_id: SERVER_ID.toUpperCase() }),
  ).toEqual(accepted(path));
  expect(bothWays(getGpuClusterPrice.params, { ...path, server_id: "gpu-1" })).toEqual(
    refused("server_id: a UUID"),
  );
});

test("the price of DDoS protection depends on the region only", () => {
  expect(bothWays(getDdosPrice.params, { region_id: 2 })).toEqual(accepted({ region_id: 2 }));
  expect(bothWays(getDdosPrice.params, { project_id: 1, region_id: 2.5 })).toEqual(
    refused("region_id: a whole number", "project_id: unknown field"),
  );
});

test.each([getK8sClusterPrice, getGpuClusterPrice, getDdosPrice])(
  "$id takes no query and no body",
  ({ query, body }) => {
    expect(bothWays(query, { currency: "EUR" })).toEqual(refused("currency: unknown field"));
    expect(bothWays(body, {})).toEqual(refused(": this operation takes no body"));
  },
);
