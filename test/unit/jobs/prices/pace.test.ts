import { describe, expect, test } from "vitest";
import { captureItem } from "../../../../lib/jobs/prices/capture-item.ts";
import { readWatchlist } from "../../../../lib/jobs/prices/watchlist.ts";
import { ProviderError } from "../../../../lib/provider/provider-error.ts";
import { createHttpFaults } from "../../../support/http-faults.ts";
import { type Fetch, json } from "../../../support/provider.ts";
import {
  ACCOUNT,
  createPriceWorld,
  type PriceWorld,
  type PriceWorldOptions,
  type RunOptions,
  START,
  watchlistOf,
} from "./price-world.ts";

const clusters = (count: number): string =>
  watchlistOf(
    ...Array.from(
      { length: count },
      (_, index) =>
        `{ name: c${index}, k8s_cluster: { project_id: 1234567, region_id: 76, cluster_name: my-cluster } }`,
    ),
  );

/** A world with pauses that last until the clock moves, and the time of each request. */
const createTimedWorld = async (options: PriceWorldOptions & { readonly answer?: Fetch } = {}) => {
  const times: number[] = [];
  let underWay = 0;
  let most = 0;
  const world: PriceWorld = await createPriceWorld({
    ...options,
    sleep: "until moved on",
    between: (service) => async (request) => {
      times.push(world.clock.now() - START);
      underWay += 1;
      most = Math.max(most, underWay);
      try {
        return await (options.between?.(service) ?? service)(request);
      } finally {
        underWay -= 1;
      }
    },
  });
  /** Runs the job while time passes in small steps. */
  const drive = async (run: RunOptions): Promise<unknown> => {
    let ended = false;
    const end = world
      .run(run)
      .catch((error: unknown) => error)
      .finally(() => {
        ended = true;
      });
    while (!ended) await world.clock.advance(20);
    return end;
  };
  return { world, times, drive, most: () => most };
};

test("requests obey the account's rate limit, with any number of items", async () => {
  const { world, times, drive } = await createTimedWorld({ requestsPerSecond: 4 });

  await drive({ watchlist: clusters(8) });

  expect(world.published("PricesCaptured")[0]?.data).toMatchObject({ items: 8, first: 8 });
  expect(times).toHaveLength(8);
  const seconds = times.map((time) => Math.floor(time / 1_000));
  expect([0, 1, 2].map((second) => seconds.filter((at) => at === second).length)).toEqual([
    4, 4, 0,
  ]);
});

test("four items at most are under way at once", async () => {
  const { drive, most } = await createTimedWorld();

  await drive({ watchlist: clusters(12) });

  expect(most()).toBe(4);
});

describe("a provider that asks for a pause", () => {
  test("pauses all items, and none of them is lost", async () => {
    let asked = 0;
    const { world, times, drive } = await createTimedWorld({
      requestsPerSecond: 1,
      between: (service) => async (request) => {
        asked += 1;
        return asked === 1
          ? json(429, { message: "slow down" }, { "retry-after": "7" })
          : service(request);
      },
    });

    await drive({ watchlist: clusters(3) });

    expect(world.published("PricesCaptured")[0]?.data).toMatchObject({ first: 3, failed: 0 });
    expect(times).toHaveLength(4);
    expect(times[0]).toBe(0);
    expect(times[1]).toBeGreaterThanOrEqual(7_000);
  });

  test("for one item repeatedly makes that item a failure, and the run is published", async () => {
    const { world, drive } = await createTimedWorld({
      between: (service) => async (request) =>
        request.url.endsWith("/busy")
          ? json(429, { message: "slow down" }, { "retry-after": "1" })
          : service(request),
    });

    await drive({ watchlist: clusters(3).replace("my-cluster", "busy") });

    expect(world.published("PricesCaptured")).toMatchObject([
      { data: { first: 2, failures: [{ name: "c0" }] } },
    ]);
  });

  test("longer than the run leaves the items to the next run of the same period", async () => {
    let isThrottled = true;
    const { world, times, drive } = await createTimedWorld({
      requestsPerSecond: 1,
      between: (service) => async (request) =>
        isThrottled
          ? json(429, { message: "slow down" }, { "retry-after": "60" })
          : service(request),
    });

    const error = await drive({ watchlist: clusters(6), scheduledAt: START });

    expect(error).toEqual(
      new Error(
        "prices/acme/2026-01-01T00:00:00.000Z: time ran out before 6 of 6 items; a retry continues",
      ),
    );
    expect(times).toEqual([0]);
    expect(await world.item("c0")).toBeUndefined();
    isThrottled = false;
    await world.clock.advance(60_000);
    await drive({ watchlist: clusters(6), scheduledAt: START });
    expect(world.published("PricesCaptured")).toMatchObject([{ data: { first: 6, failed: 0 } }]);
  });
});

test("an item without a permit until time runs out is left to the next run, and is no failure", async () => {
  const { world } = await createTimedWorld();
  const { deps } = world.newInvocation();
  const watchlist = readWatchlist(clusters(1));
  const [item] = watchlist.kind === "valid" ? watchlist.value : [];
  const noTurn = (code: "budget-spent" | "paused") =>
    captureItem(
      {
        deps,
        account: ACCOUNT,
        bucket: "2026-01-01T00:00:00.000Z",
        client: {
          call: async () => {
            const message = "not sent";
            throw new ProviderError({ disposition: "throttled", code, message, retryAfterMs: 1 });
          },
        },
        budget: { endsAt: START + 500, signal: new AbortController().signal },
      },
      item!,
    );

  const outcomes = [await noTurn("budget-spent"), await noTurn("paused")];

  expect(outcomes).toEqual([undefined, undefined]);
  expect(await world.item("c0")).toBeUndefined();
});

describe("a run that runs out of time", () => {
  test("publishes nothing, and the same run continues where it stopped", async () => {
    const { world, times, drive } = await createTimedWorld({ requestsPerSecond: 1 });

    const error = await drive({
      watchlist: clusters(6),
      scheduledAt: START,
      durationMs: 2_500,
    });

    expect(error).toEqual(
      new Error(
        "prices/acme/2026-01-01T00:00:00.000Z: time ran out before 3 of 6 items; a retry continues",
      ),
    );
    expect(times).toHaveLength(3);
    expect(world.bus.published()).toEqual([]);
    await drive({ watchlist: clusters(6), scheduledAt: START });
    expect(times).toHaveLength(6);
    expect(world.published("PricesCaptured")).toMatchObject([{ data: { items: 6, first: 6 } }]);
  });

  test("sends no request and reads no item if it has no time at all", async () => {
    const calls: string[] = [];
    const { times, drive } = await createTimedWorld({
      around: ({ name }, effect) => {
        calls.push(name);
        return effect();
      },
    });

    const error = await drive({ watchlist: clusters(2), durationMs: 0 });

    expect(error).toBeInstanceOf(Error);
    expect(times).toEqual([]);
    expect(calls.filter((name) => name.startsWith("ledger.read price#"))).toEqual([]);
  });

  test("stops at once when it is aborted, and records no failure", async () => {
    const stop = new AbortController();
    const { world, times, drive } = await createTimedWorld({
      between: (service) => async (request) => {
        if (request.url.endsWith("my-cluster")) stop.abort();
        return service(request);
      },
    });

    const error = await drive({ watchlist: clusters(9), signal: stop.signal });

    expect(error).toBeInstanceOf(Error);
    expect(times.length).toBeLessThanOrEqual(4);
    expect((await world.item("c0"))?.lastRun.outcome).not.toBe("failed");
  });
});

test("a transient failure is retried, and is recorded only if it persists", async () => {
  const world: PriceWorld = await createPriceWorld({
    between: (service) => {
      const faults = createHttpFaults(service, { now: () => START, sleep: async () => undefined });
      faults.strike("fails before the effect", "the connection breaks after the effect");
      return faults.fetch;
    },
  });
  const broken = await createPriceWorld({ between: () => async () => json(503, {}) });

  await world.run({ watchlist: clusters(1) });
  await broken.run({ watchlist: clusters(1) });

  expect(world.published("PricesCaptured")[0]?.data).toMatchObject({ first: 1, failed: 0 });
  expect(broken.published("PricesCaptured")[0]?.data).toMatchObject({
    first: 0,
    failures: [{ name: "c0", problem: expect.stringMatching(/503 server-error/) }],
  });
});

describe("an item for which the provider is unavailable longer than the run", () => {
  /** The price of the first cluster is unavailable for an hour; the others are available. */
  const firstAway = async () => {
    const world = await createPriceWorld({
      between: (service) => async (request) =>
        request.url.endsWith("/away")
          ? json(503, { message: "maintenance" }, { "retry-after": "3600" })
          : service(request),
    });
    const watchlist = clusters(20).replace("my-cluster", "away");
    return { world, watchlist };
  };

  test("is a failure, and stops none of the others", async () => {
    const { world, watchlist } = await firstAway();

    await world.run({ watchlist });

    expect(world.published("PricesCaptured")).toMatchObject([
      {
        data: {
          items: 20,
          first: 19,
          failures: [{ name: "c0", problem: expect.stringMatching(/503 server-error/) }],
        },
      },
    ]);
  });

  test("is asked for once in each run, and each run is published", async () => {
    const { world, watchlist } = await firstAway();

    for (let hour = 0; hour < 3; hour++) {
      await world.run({ watchlist });
      await world.clock.advance(3_600_000);
    }

    expect(
      world.published("PricesCaptured").map(({ data }) => [data.failed, data.unchanged]),
    ).toEqual([
      [1, 0],
      [1, 19],
      [1, 19],
    ]);
  });
});
