import { expect, test } from "vitest";
import {
  AT_ONCE,
  FOLLOWING_60S,
  MONTH_SECONDS,
  monthlyBill,
} from "../../../lib/cost/monthly-bill.ts";
import { dollarsOf } from "../../../lib/cost/prices.ts";

const MILLION = 1_000_000;

test("commands that answer at once cost the counted units each, and no following", () => {
  const { commands, following, openTasks } = monthlyBill({ commands: 300, taskSeconds: 0 });

  expect(commands).toMatchObject({ tableWrites: 1_800, dueIndexWrites: 600, reads: 900 });
  expect(commands.tableWrites).toBe(300 * (AT_ONCE.tableWrites ?? 0));
  expect(dollarsOf(following)).toBe(0);
  expect(openTasks).toBe(0);
});

test("a few tasks cost what each costs alone", () => {
  expect(monthlyBill({ commands: 100, taskSeconds: 60 }).following).toMatchObject({
    tableWrites: expect.closeTo(100 * (FOLLOWING_60S.tableWrites ?? 0)),
    invocations: expect.closeTo(100 * (FOLLOWING_60S.invocations ?? 0)),
  });
  expect(monthlyBill({ commands: 10, taskSeconds: 7_200 }).following.tableWrites).toBe(4_258);
});

test("a longer task costs more, and a task of 120 s less than two of 60 s", () => {
  const dollars = [1, 10, 30, 60, 120, 600, 7_200, 86_400].map((taskSeconds) =>
    dollarsOf(monthlyBill({ commands: 10, taskSeconds }).following),
  );

  expect(dollars).toEqual([...dollars].sort((one, other) => one - other));
  expect(new Set(dollars).size).toBeGreaterThan(6);
  expect(dollars[4]).toBeLessThan(2 * (dollars[3] ?? 0));
});

test("many tasks share the checks of one poller", () => {
  const [one, ten] = [1, 10].map((millions) =>
    monthlyBill({ commands: millions * MILLION, taskSeconds: 120 }),
  );

  expect(one?.openTasks).toBeCloseTo((MILLION * 120) / MONTH_SECONDS);
  expect(dollarsOf(ten!.following)).toBeLessThan(1.3 * dollarsOf(one!.following));
  expect(dollarsOf(ten!.commands)).toBeCloseTo(10 * dollarsOf(one!.commands), 5);
});

test("an idle stage costs less than $1.5 a month without monitoring", () => {
  const { idle } = monthlyBill({ commands: 0, taskSeconds: 0 });

  expect(idle).toMatchObject({ ticks: 43_800, fifoRequests: 657_000, standardRequests: 1_314_000 });
  expect(dollarsOf(idle)).toBeLessThan(1.5);
});
