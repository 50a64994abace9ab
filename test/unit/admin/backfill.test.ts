import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";
import {
  type BackfillDeps,
  type BackfillProgress,
  backfillList,
} from "../../../lib/admin/backfill.ts";
import { listCommands } from "../../../lib/admin/list.ts";
import { listQuerySchema } from "../../../lib/admin/list-query.ts";
import { commandKey, commands } from "../../../lib/engine/command.ts";
import { recordRejection } from "../../../lib/engine/rejection.ts";
import { createCapacityMeter } from "../../../lib/platform/aws/capacity-meter.ts";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import { createDynamodbUnlistedItems } from "../../../lib/platform/aws/dynamodb-unlisted-items.ts";
import type { Clock } from "../../../lib/platform/ports/clock.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { commandOf, wholeItem } from "../../support/commands.ts";
import { openTableServer } from "../../support/table-server.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const TABLE = "skyhook-ledger";

let ledger: Ledger;
let deps: BackfillDeps;
/** Pauses of the backfill, ms. */
let pauses: number[];

/** A clock that moves only by sleeping. */
const sleepingClock = (): Clock => {
  let now = NOW;
  return {
    now: () => now,
    async sleep(durationMs) {
      pauses.push(durationMs);
      now += Math.max(0, durationMs);
    },
  };
};

/** The ledger as the version before the list writes it: whole items without a listing. */
const olderVersion = (): Ledger => ({
  ...ledger,
  write(given) {
    const { listing: _, ...item } = wholeItem(given);
    return ledger.write(item);
  },
});

const create = async (by: Ledger, id: string): Promise<void> => {
  const command = commandOf({ id, acceptedAt: NOW });
  await commands.write(by, commandKey(command), undefined, command);
};

const rewrite = (by: Ledger, id: string) =>
  commands.update(by, `own/${id}`, (command) => ({ ...command, attemptCount: 1 }));

const listedIds = async (): Promise<readonly string[]> => {
  const { rows } = await listCommands(ledger, listQuerySchema().parse({ limit: 500 }), NOW);
  return rows.map(({ id }) => id).sort();
};

const backfill = async (
  options: Partial<Parameters<typeof backfillList>[1]> = {},
  other: Partial<BackfillDeps> = {},
): Promise<readonly BackfillProgress[]> => {
  const all: BackfillProgress[] = [];
  const { signal } = new AbortController();
  const chosen = { cursor: undefined, unitsPerSecond: 1_000, signal, ...options };
  for await (const progress of backfillList({ ...deps, ...other }, chosen)) all.push(progress);
  return all;
};

beforeEach(async () => {
  const table = await openTableServer(TABLE);
  const client = new DynamoDBClient(table.clientConfig);
  const { onConsumed, units } = createCapacityMeter();
  const options = { client, tableName: TABLE, onConsumed };
  ledger = createDynamodbLedger(options);
  pauses = [];
  deps = {
    ledger,
    unlisted: createDynamodbUnlistedItems(options),
    clock: sleepingClock(),
    consumedUnits: () => units().read + units().write,
  };
  return async () => {
    client.destroy();
    await table.close();
  };
});

describe("the backfill of the list", () => {
  test("lists what the version before the list has written, and nothing twice", async () => {
    const rejection = { digest: "d", eventId: "e1", commandId: "refused", operation: "none" };
    const because = { reason: "not-allowed", problems: [], problemCount: 0, rejectedAt: NOW };
    await create(olderVersion(), "old");
    await recordRejection(olderVersion(), "own", { ...rejection, ...because });
    await create(ledger, "new");
    await ledger.write({ key: "lane#1", version: 1, value: {} });
    expect(await listedIds()).toEqual(["new"]);

    const [first] = await backfill();

    // Two commands, a rejection under two ids with its hour, and a lane.
    expect(first).toEqual({ examined: 6, added: 2, unreadable: 0 });
    expect(await listedIds()).toEqual(["new", "old", "refused"]);
    expect(await backfill()).toEqual([{ examined: 6, added: 0, unreadable: 0 }]);
    expect(await listedIds()).toEqual(["new", "old", "refused"]);
  });

  test("returns commands to the list that an older version has rewritten after a rollback", async () => {
    await create(ledger, "c1");
    await create(ledger, "c2");
    expect(await listedIds()).toEqual(["c1", "c2"]);
    await rewrite(olderVersion(), "c1");
    expect(await listedIds()).toEqual(["c2"]);

    expect(await backfill()).toMatchObject([{ added: 1 }]);

    expect(await listedIds()).toEqual(["c1", "c2"]);
    expect((await commands.read(ledger, "own/c1"))?.value.attemptCount).toBe(1);
  });

  test("lists a command as its next write would", async () => {
    await create(olderVersion(), "c1");
    await backfill();
    const added = await ledger.read("command#own/c1");

    await rewrite(ledger, "c1");

    expect((await ledger.read("command#own/c1"))?.listing).toEqual(added?.listing);
    expect(added?.listing).toMatchObject({ account: "local", sender: "own" });
  });

  test("leaves a command to the function that writes it meanwhile", async () => {
    await create(olderVersion(), "c1");
    const read = async (key: string) => {
      const item = await ledger.read(key);
      await rewrite(ledger, "c1");
      return item;
    };

    expect(await backfill({}, { ledger: { ...ledger, read } })).toMatchObject([{ added: 0 }]);

    expect(await listedIds()).toEqual(["c1"]);
    expect((await commands.read(ledger, "own/c1"))?.value.attemptCount).toBe(1);
  });

  test("reads a command again that an older version writes meanwhile", async () => {
    await create(olderVersion(), "c1");
    let reads = 0;
    const read = async (key: string) => {
      const item = await ledger.read(key);
      reads += 1;
      if (reads === 1) await rewrite(olderVersion(), "c1");
      return item;
    };

    expect(await backfill({}, { ledger: { ...ledger, read } })).toMatchObject([{ added: 1 }]);

    expect(reads).toBe(2);
    expect(await listedIds()).toEqual(["c1"]);
  });

  test("ends at a command that conflicts without end", async () => {
    await create(olderVersion(), "c1");
    const addListing = async () => "conflict" as const;

    await expect(backfill({}, { unlisted: { ...deps.unlisted, addListing } })).rejects.toThrow(
      "too many conflicting writes on command#own/c1",
    );
  });

  test("passes over a command that was deleted meanwhile, and one that it cannot read", async () => {
    await create(olderVersion(), "gone");
    await create(olderVersion(), "kept");
    await ledger.write({ key: "command#own/newer", version: 1, value: { shape: "unknown" } });
    const read = async (key: string) => (key.endsWith("gone") ? undefined : ledger.read(key));

    expect(await backfill({}, { ledger: { ...ledger, read } })).toEqual([
      { examined: 3, added: 1, unreadable: 1 },
    ]);

    expect(await listedIds()).toEqual(["kept"]);
  });

  test("stops between two pages, continues at its cursor, and keeps to its rate", async () => {
    for (let index = 0; index < 150; index += 1) await create(olderVersion(), `c${index}`);
    const signal = AbortSignal.abort();

    const before = deps.consumedUnits();
    const [first, ...none] = await backfill({ signal, unitsPerSecond: 50 });
    const consumed = deps.consumedUnits() - before;
    const listedFirst = await listedIds();
    const [second, ...last] = await backfill({ cursor: first?.cursor, unitsPerSecond: 50 });

    expect(none).toEqual([]);
    expect(first).toMatchObject({ examined: 100, added: 100 });
    expect(listedFirst).toHaveLength(100);
    // At least one read and one write per item.
    expect(consumed).toBeGreaterThan(200);
    expect(pauses).toEqual([(consumed / 50) * 1_000]);
    expect(second).toEqual({ examined: 50, added: 50, unreadable: 0 });
    expect(last).toEqual([]);
    expect(await listedIds()).toHaveLength(150);
  });
});
