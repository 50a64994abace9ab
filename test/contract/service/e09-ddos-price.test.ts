import { expect, test } from "vitest";
import { openTarget, refusedFields } from "./target.ts";

const { call, state, pricesOf } = await openTarget();
const regions = [...new Set(state.prices.map(({ region_id }) => region_id))];
const [region] = regions;

/** Counts day by day, so that the calculation is independent of the service's. */
const daysAfter = (instant: Date): { inMonth: number; left: number; inNext: number } => {
  const months = Array.from({ length: 70 }, (_, ahead) => {
    const start = Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth(), 1);
    return new Date(start + ahead * 86_400_000).getUTCMonth();
  });
  const count = (month: number) => months.filter((other) => other === month % 12).length;
  const inMonth = count(instant.getUTCMonth());
  return {
    inMonth,
    left: inMonth - instant.getUTCDate(),
    inNext: count(instant.getUTCMonth() + 1),
  };
};

test("the day counts are those of this month and the next one in UTC", async () => {
  const before = daysAfter(new Date());
  const { status, body } = await call("GET", `/cloud/v1/pricing/${region}/ddos`);
  const after = daysAfter(new Date());

  expect(status).toBe(200);
  // Midnight between the two calculations makes them differ; then both are right.
  expect([before, after]).toContainEqual({
    inMonth: body.current_month_days,
    left: body.current_month_days_last,
    inNext: body.next_month_days,
  });
});

test.each(regions)(
  "region %i has a price per day, and prices per hour and per 30 days that follow from it",
  async (id) => {
    const { ddos } = pricesOf(id);

    const { body } = await call("GET", `/cloud/v1/pricing/${id}/ddos`);

    expect(body.price).toEqual({
      ...ddos,
      period: "day",
      price_per_hour: expect.closeTo(ddos.price_per_day / 24, 6),
      price_per_30d: expect.closeTo(ddos.price_per_day * 30, 6),
    });
  },
);

test("an unknown region returns 404", async () => {
  const answer = await call("GET", "/cloud/v1/pricing/999999/ddos");

  expect(answer.status).toBe(404);
  expect(answer.body.exception_class).toBe("NotFoundError");
});

test("a region other than an integer is refused", async () => {
  const refused = await call("GET", "/cloud/v1/pricing/luxembourg/ddos");

  expect(refusedFields(refused)).toEqual(["region_id"]);
});
