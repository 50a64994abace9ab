import { describe, expect, it } from "vitest";
import scheduled from "../../support/fixtures/scheduler-event.json" with { type: "json" };
import { createTextSource } from "../../support/text-source.ts";
import { createFunctionWorld } from "./function-world.ts";

const TICK = scheduled;

const open = async (watchlist: string) => {
  const world = await createFunctionWorld();
  const { snapshotPrices } = world.skyhook({ watchlist: createTextSource(watchlist) });
  return { world, handler: snapshotPrices };
};

describe("snapshot-prices", () => {
  it("prices the watchlist once for the hour of the tick, also when the tick is repeated", async () => {
    const { world, handler } = await open("items: [{ name: ddos, ddos: { region_id: 76 } }]\n");

    await handler(TICK, world.contextOf(300_000));
    await handler({ ...TICK, time: "2024-06-13T12:59:59Z" }, world.contextOf(300_000));

    expect(world.bus.published().map(({ data }) => data)).toMatchObject([
      { bucket: "2024-06-13T12:00:00.000Z", items: 1, first: 1 },
    ]);
  });

  it("needs only the id and time of a tick, the schedule's input", async () => {
    const { world, handler } = await open("items: [{ name: ddos, ddos: { region_id: 76 } }]\n");

    await handler(
      { id: "d32c5kddcf5bb8c3", time: "2024-06-13T12:30:00Z" },
      world.contextOf(300_000),
    );

    expect(world.bus.published().map(({ data }) => data)).toMatchObject([
      { bucket: "2024-06-13T12:00:00.000Z", items: 1 },
    ]);
  });

  it("starts another run in the next hour", async () => {
    const { world, handler } = await open("items: [{ name: ddos, ddos: { region_id: 76 } }]\n");
    await handler(TICK, world.contextOf(300_000));

    await handler({ ...TICK, time: "2024-06-13T13:00:00Z" }, world.contextOf(300_000));

    expect(world.bus.published().map(({ data }) => data)).toMatchObject([
      { bucket: "2024-06-13T12:00:00.000Z" },
      { bucket: "2024-06-13T13:00:00.000Z", unchanged: 1 },
    ]);
  });

  it("publishes the problems of an invalid watchlist instead of failing", async () => {
    const { world, handler } = await open("items:\n  - name: ddos\n    ddos: { region: 76 }\n");

    await handler(TICK, world.contextOf(300_000));

    expect(world.bus.published()).toMatchObject([
      { detailType: "WatchlistRejected", data: { problems: [{ line: 3 }, { line: 3 }] } },
    ]);
    expect(world.log.lines).toMatchObject([
      { level: "warn", message: "watchlist rejected, nothing is priced" },
    ]);
  });

  it("logs a rejected watchlist with the correlation id of its events", async () => {
    const { world, handler } = await open("items: 7\n");

    await handler(TICK, world.contextOf(300_000));

    expect(world.log.lines).toMatchObject([
      { fields: { account: "local", correlationId: "prices/local/2024-06-13T12:00:00.000Z" } },
    ]);
  });
});
