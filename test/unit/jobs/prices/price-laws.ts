import { expect } from "vitest";
import { listPrices, priceChanges, priceHistory } from "../../../../lib/jobs/prices/memory.ts";
import { ACCOUNT, type PriceWorld } from "./price-world.ts";

/** All stored records and published events, without instants: a repeated request takes time. */
export const remembered = async (world: PriceWorld) => {
  const events = new Map(
    world.bus.published().map(({ id, detailType, data }) => {
      const { readAt: _, previousReadAt: __, ...facts } = data;
      return [id, { detailType, ...facts }];
    }),
  );
  const names = (await listPrices(world.ledger, ACCOUNT)).map(({ name }) => name);
  const items = await Promise.all(
    names.map(async (name) => {
      const history = (await priceHistory(world.ledger, ACCOUNT, name)) ?? [];
      const readings = history.map(({ number, status, amounts }) => ({ number, status, amounts }));
      return { name, lastRun: (await world.item(name))?.lastRun, readings };
    }),
  );
  return { items, events: [...events].toSorted(([a], [b]) => (a < b ? -1 : 1)) };
};

/** Laws that hold after any failure: no reading is lost or stored twice, and every change is published once. */
export const expectSound = async (world: PriceWorld): Promise<void> => {
  for (const { name } of await listPrices(world.ledger, ACCOUNT)) {
    const history = (await priceHistory(world.ledger, ACCOUNT, name)) ?? [];
    expect(history.map(({ number }) => number)).toEqual(history.map((_, i) => history.length - i));
    for (const [index, reading] of history.entries()) {
      const { status, amounts } = history[index + 1] ?? {};
      expect({ status, amounts }).not.toEqual({
        status: reading.status,
        amounts: reading.amounts,
      });
    }
  }
  const published = new Map(world.published("PriceChanged").map(({ id, data }) => [id, data]));
  const changes = await priceChanges(world.ledger, ACCOUNT, 0);
  const facts = (change: { name: string; number: number; percent: string | null }) =>
    `${change.name} ${change.number} ${change.percent}`;
  expect([...published.values()].map(facts).toSorted()).toEqual(changes.map(facts).toSorted());
  expect(await world.ledger.listDue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
};
