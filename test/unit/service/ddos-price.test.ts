import { afterEach, expect, test, vi } from "vitest";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import type { PriceListRecord } from "../../../lib/service/state/prices.ts";
import { startService } from "./harness.ts";

const PRICE = "/cloud/v1/pricing/76/ddos";
const START = Date.UTC(2026, 0, 1);

afterEach(() => {
  vi.unstubAllEnvs();
});

test("the prices of 30 days and of an hour follow from the price of a day", async () => {
  const { send } = await startService();

  const answer = await send("GET", PRICE);

  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    current_month_days: 31,
    current_month_days_last: 30,
    next_month_days: 28,
    price: {
      feature_name: "Advanced DDoS Protection Bare-metal Servers",
      period: "day",
      price_currency: "EUR",
      unit_name: "PC",
      unit_size: 1,
      price_per_30d: 60,
      price_per_day: 2,
      price_per_hour: 0.08333333333333333,
    },
  });
});

test.each([
  ["the first moment of a month", "2026-01-01T00:00:00Z", 31, 30, 28],
  ["the last day of January, before a short month", "2026-01-31T12:00:00Z", 31, 0, 28],
  ["the last moment of January", "2026-01-31T23:59:59.999Z", 31, 0, 28],
  ["the first moment of February", "2026-02-01T00:00:00Z", 28, 27, 31],
  ["the last moment of February", "2026-02-28T23:59:59.999Z", 28, 0, 31],
  ["a day of March", "2026-03-05T08:00:00Z", 31, 26, 30],
  ["a month of 30 days", "2026-04-30T00:00:00Z", 30, 0, 31],
  ["July, before a month as long", "2026-07-15T00:00:00Z", 31, 16, 31],
  ["December", "2026-12-15T00:00:00Z", 31, 16, 31],
  ["the last moment of a year", "2026-12-31T23:59:59.999Z", 31, 0, 31],
  ["the first moment of the next year", "2027-01-01T00:00:00Z", 31, 30, 28],
  ["the first moment of a leap year", "2028-01-01T00:00:00Z", 31, 30, 29],
  ["January of a leap year", "2028-01-31T00:00:00Z", 31, 0, 29],
  ["February of a leap year", "2028-02-01T00:00:00Z", 29, 28, 31],
  ["the leap day", "2028-02-29T23:59:59Z", 29, 0, 31],
  ["a century that has no leap day", "2100-02-28T00:00:00Z", 28, 0, 31],
])(
  "on %s, %s, days count in UTC in every time zone of the service",
  async (_, at, days, left, next) => {
    for (const zone of ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
      vi.stubEnv("TZ", zone);
      const { send, clock } = await startService();
      await clock.advance(Date.parse(at) - START);

      expect((await send("GET", PRICE)).body, zone).toMatchObject({
        current_month_days: days,
        current_month_days_last: left,
        next_month_days: next,
      });
    }
  },
);

const ddos = (price_per_day: number): PriceListRecord["ddos"] => ({
  feature_name: "DDoS protection of a server",
  unit_name: "server",
  unit_size: 10,
  price_currency: "USD",
  price_per_day,
});

const startWithDdos = () =>
  startService({
    state: (builtIn) => ({
      ...builtIn,
      prices: [
        { ...builtIn.prices[0]!, ddos: ddos(1.11), tax_percent: 20, discount_percent: 50 },
        { ...builtIn.prices[0]!, ddos: ddos(6), starts_at: "2026-01-02T00:00:00Z" },
        builtIn.prices[1]!,
      ],
    }),
  });

test("the price equals that of the list in every digit, without tax and discount", async () => {
  const { send } = await startWithDdos();

  expect((await send("GET", PRICE)).body.price).toEqual({
    feature_name: "DDoS protection of a server",
    period: "day",
    price_currency: "USD",
    unit_name: "server",
    unit_size: 10,
    price_per_30d: 33.3,
    price_per_day: 1.11,
    price_per_hour: 0.04625,
  });
});

test("each region has its own price, and a later list applies from its start", async () => {
  const { send, clock } = await startWithDdos();
  const before = await send("GET", PRICE);

  await clock.advance(86_400_000);

  const after = await send("GET", PRICE);
  const elsewhere = await send("GET", "/cloud/v1/pricing/148/ddos");
  expect([before, after, elsewhere].map(({ body }) => body.price.price_per_day)).toEqual([
    1.11, 6, 2,
  ]);
});

test("every client can read the price of every region", async () => {
  const { send } = await startService();

  const answer = await send("GET", PRICE, {
    headers: { authorization: `apikey ${BUILT_IN_API_KEYS.second}` },
  });

  expect(answer.status).toBe(200);
});

test("a region without prices is 404, and a region id has to be a whole number", async () => {
  const { send } = await startService();

  const missing = await send("GET", "/cloud/v1/pricing/77/ddos");
  const refused = await send("GET", "/cloud/v1/pricing/luxembourg/ddos");

  expect(missing.status).toBe(404);
  expect(missing.body).toMatchObject({ message: "region not found" });
  expect(refused.status).toBe(400);
  expect(refused.body.invalid_fields).toEqual({ region_id: ["a number"] });
});
