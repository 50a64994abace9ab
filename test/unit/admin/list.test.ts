import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ListQuery, listCommands, listQuerySchema } from "../../../lib/admin/list.ts";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { commandOf } from "../../support/commands.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { startProvider } from "../../support/provider.ts";
import { updateContainer, updatePolicy } from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const HOUR_MS = 3_600_000;

const ended = (status: "succeeded" | "failed", reason?: string): Command["state"] => ({
  status,
  endedAt: NOW,
  settled: true,
  tasks: [],
  ...(reason !== undefined && { reason }),
});

const ledgerWith = async (all: readonly Partial<Command>[]): Promise<Ledger> => {
  const ledger = createMemoryLedger();
  for (const fields of all) {
    const command = commandOf(fields);
    await commands.write(ledger, commandKey(command), undefined, command);
  }
  return ledger;
};

const list = (ledger: Ledger, query: Partial<ListQuery> = {}) =>
  listCommands(ledger, listQuerySchema.parse(query), NOW);

/** Every row of every page, and the number of pages. */
const listAll = async (ledger: Ledger, query: Partial<ListQuery>) => {
  const ids: string[] = [];
  let pages = 0;
  let cursor: string | undefined;
  do {
    const page = await list(ledger, { ...query, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.rows.map(({ id }) => id));
    cursor = page.cursor;
    pages += 1;
  } while (cursor !== undefined);
  return { ids, pages };
};

describe("the list of commands", () => {
  test("shows each command once, the newest first, in pages of any size", async () => {
    const hoursAgo = fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 40 });

    await fc.assert(
      fc.asyncProperty(hoursAgo, fc.integer({ min: 1, max: 45 }), async (hours, limit) => {
        const all = hours.map((ago, index) => ({
          id: `c${String(index).padStart(2, "0")}`,
          acceptedAt: NOW - ago * HOUR_MS,
        }));
        const ledger = await ledgerWith(all);

        const { ids } = await listAll(ledger, { limit });

        const newestFirst = all.toSorted(
          (a, b) => b.acceptedAt - a.acceptedAt || (a.id < b.id ? 1 : -1),
        );
        expect(ids).toEqual(newestFirst.map(({ id }) => id));
      }),
      { numRuns: 50 },
    );
  });

  test("shows what an operator looks for in a row", async () => {
    const ledger = await ledgerWith([
      { id: "c1", acceptedAt: NOW - 5, state: ended("failed", "task-failed") },
    ]);

    expect(await list(ledger)).toEqual({
      rows: [
        {
          id: "c1",
          sender: "own",
          account: "local",
          operation: "update-container",
          resource: "local/container/1/2/web",
          status: "failed",
          reason: "task-failed",
          at: new Date(NOW - 5).toISOString(),
          endedAt: new Date(NOW).toISOString(),
        },
      ],
    });
  });

  test.each<[string, Partial<ListQuery>, readonly string[]]>([
    ["account", { account: "other" }, ["c2"]],
    ["operation", { operation: "update-policy" }, ["c3"]],
    ["sender", { sender: "111122223333" }, ["c4"]],
    ["resource", { resource: "policy/7" }, ["c3"]],
    ["status", { status: "failed" }, ["c4", "c2"]],
    ["an unknown outcome", { status: "unknown-outcome" }, ["c4"]],
    ["the earliest time", { since: new Date(NOW - 2).toISOString() }, ["c2", "c1"]],
    ["the latest time", { until: new Date(NOW - 3).toISOString() }, ["c4", "c3"]],
    ["several at once", { status: "failed", account: "local" }, ["c4"]],
  ])("filters by %s", async (_name, query, expected) => {
    const lane = "local/policy/7";
    const unknown = ended("failed", "unknown-outcome");
    const ledger = await ledgerWith([
      { id: "c1", acceptedAt: NOW - 1 },
      { id: "c2", acceptedAt: NOW - 2, account: "other", state: ended("failed", "refused") },
      { id: "c3", acceptedAt: NOW - 4, operation: "update-policy", lane },
      { id: "c4", acceptedAt: NOW - 3, sender: "111122223333", state: unknown },
    ]);

    expect((await listAll(ledger, query)).ids.toSorted()).toEqual([...expected].toSorted());
  });

  test("ends a page early with a cursor when few commands have the status", async () => {
    const succeeded = Array.from({ length: 1_500 }, (_, index) => ({
      id: `c${index}`,
      acceptedAt: NOW - index,
      state: ended("succeeded"),
    }));
    const failed = { id: "rare", acceptedAt: NOW - HOUR_MS, state: ended("failed", "refused") };
    const ledger = await ledgerWith([...succeeded, failed]);

    const first = await list(ledger, { status: "failed" });
    const { ids, pages } = await listAll(ledger, { status: "failed" });

    expect(first.rows).toEqual([]);
    expect(first.cursor).toBeDefined();
    expect([ids, pages]).toEqual([["rare"], 2]);
  });

  test("shows a rejected request once, by its command's id, without an account", async () => {
    const world = await createWorld({ provider: startProvider });

    await world.handle(updatePolicy("c1", { status: "asleep" }));

    const { rows } = await listCommands(world.ledger, listQuerySchema.parse({}), world.clock.now());
    expect(rows).toEqual([
      {
        id: "c1",
        sender: "own",
        operation: "update-policy",
        status: "rejected",
        reason: "invalid",
        at: new Date(world.clock.now()).toISOString(),
      },
    ]);
  });

  test("names a record that a newer version has written, and leaves out a deleted one", async () => {
    const ledger = await ledgerWith([{ id: "c1", acceptedAt: NOW - 1 }]);
    const item = await ledger.read("command#own/c1");
    if (!item?.listing) throw new Error("c1 is not listed");
    await ledger.write({ ...item, version: 2, value: { of: "a later version" } });
    const { partition, sort } = item.listing;
    const deleted = { key: "command#own/c0", partition, sort: `${sort}0` };
    const stale: Ledger = {
      ...ledger,
      list: async (...page) =>
        page[0] === partition ? [deleted, ...(await ledger.list(...page))] : ledger.list(...page),
    };

    const { rows } = await list(stale);

    expect(rows).toMatchObject([{ id: "c1", status: "unreadable" }]);
  });

  test("costs about one write of the index for each command, over its whole life", async () => {
    const world = await createWorld({ provider: startProvider });
    const listings = new Map<string, (string | undefined)[]>();
    const { write } = world.ledger;
    world.ledger.write = async (item) => {
      const answer = await write(item);
      const known = listings.get(item.key) ?? [];
      const listing = item.listing && JSON.stringify(item.listing);
      if (answer === "written" && known.at(-1) !== listing) {
        listings.set(item.key, [...known, listing]);
      }
      return answer;
    };

    for (const id of ["c1", "c2", "c3"]) await world.handle(updatePolicy(id, { status: "paused" }));
    await world.handle(updateContainer("c4", { description: "four" }));
    await world.pass(60_000);

    const { rows } = await listCommands(world.ledger, listQuerySchema.parse({}), world.clock.now());
    expect(rows.map(({ status }) => status)).toEqual(Array(4).fill("succeeded"));
    const indexWrites = [...listings.values()].flat().length;
    expect(indexWrites / rows.length).toBeLessThanOrEqual(1.2);
  });
});
