import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listCommands } from "../../../lib/admin/list.ts";
import { type ListQuery, listQuerySchema } from "../../../lib/admin/list-query.ts";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import { recordRejection } from "../../../lib/engine/rejection.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { commandOf, wholeItem } from "../../support/commands.ts";
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
  listCommands(ledger, listQuerySchema().parse(query), NOW);

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

/** Ids of every kind: ends of a key, other scripts, characters that steer a terminal. */
const anyId = fc.oneof(
  fc.constantFrom("a#b", "a/b", "#", "/", "\u0000", "\u001b[2J", "~", "\uffff", "\u{1f600}", "é"),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }),
);

const cursorAt = (sort: string): string => Buffer.from(sort).toString("base64url");

/** A ledger that counts queries, in total and one after another. */
const counted = (ledger: Ledger) => {
  const count = { queries: 0, rounds: 0, entries: 0, reads: 0 };
  let open = 0;
  const counting: Ledger = {
    ...ledger,
    read: (key) => {
      count.reads += 1;
      return ledger.read(key);
    },
    list: async (...page) => {
      count.queries += 1;
      if (open === 0) count.rounds += 1;
      open += 1;
      const found = await ledger.list(...page);
      open -= 1;
      count.entries += found.length;
      return found;
    },
  };
  return { ledger: counting, count };
};

describe("the list of commands", () => {
  test("loses and repeats no command of one instant, whatever its id", async () => {
    const ids = fc.uniqueArray(anyId, { minLength: 1, maxLength: 40 });

    await fc.assert(
      fc.asyncProperty(ids, fc.integer({ min: 1, max: 5 }), async (all, limit) => {
        const ledger = await ledgerWith(all.map((id) => ({ id, acceptedAt: NOW })));

        const listed = await listAll(ledger, { limit });

        expect(listed.ids.toSorted()).toEqual(all.toSorted());
      }),
      { numRuns: 50 },
    );
  });

  test("merges the partitions in the order of the stores, by bytes", async () => {
    const all = Array.from({ length: 20 }, (_, index) => [
      `\u{1f600}${index}`,
      `\uff5e${index}`,
    ]).flat();
    const ledger = await ledgerWith(all.map((id) => ({ id, acceptedAt: NOW })));

    const { ids } = await listAll(ledger, { limit: 3 });

    const byBytes = all.toSorted((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
    expect(ids).toEqual(byBytes);
  });

  test.each([
    "x",
    "2026-11-22",
    "2026-11-22T12:00:00.000Z#command#own/c1",
    cursorAt("x"),
    cursorAt("2026-13-45T12:00:00.000Z#c"),
    cursorAt("2026-02-30T12:00:00.000Z#c"),
    cursorAt("+12026-01-01T12:00:00.00Z#c"),
    cursorAt("2026-11-22T12:00:00.000Zc"),
    cursorAt(`2026-11-22T12:00:00.000Z#${"c".repeat(1_000)}`),
  ])("refuses %j as a cursor", (cursor) => {
    expect(listQuerySchema().safeParse({ cursor }).error?.issues).toMatchObject([
      { path: ["cursor"], message: "must be the cursor that an earlier page ended with" },
    ]);
  });

  test("refuses a since after until", () => {
    const query = { since: "2026-11-22T12:00:01Z", until: "2026-11-22T12:00:00.999Z" };

    expect(listQuerySchema().safeParse(query).error?.issues).toMatchObject([
      { path: ["since"], message: "must not be after until" },
    ]);
    expect(listQuerySchema().safeParse({ ...query, until: query.since }).success).toBe(true);
  });

  test.each(["2026-11-22T12:00:00.0Z", "2026-11-22T12:00:00Z", "2026-11-22T12:00:00.000Z"])(
    "takes %s for the same instant",
    async (instant) => {
      const ledger = await ledgerWith([
        { id: "before", acceptedAt: NOW - 1 },
        { id: "at", acceptedAt: NOW },
      ]);

      expect((await listAll(ledger, { since: instant })).ids).toEqual(["at"]);
      expect((await listAll(ledger, { until: instant })).ids).toEqual(["at", "before"]);
    },
  );

  test("shows what a function with a clock ahead has just accepted", async () => {
    const ledger = await ledgerWith([{ id: "c1", acceptedAt: NOW + 30_000 }]);

    expect((await list(ledger)).rows).toMatchObject([{ id: "c1" }]);
  });

  test("stays inside the times of the query, whatever the cursor", async () => {
    const ledger = await ledgerWith([
      { id: "late", acceptedAt: NOW },
      { id: "c1", acceptedAt: NOW - 2 * HOUR_MS },
    ]);
    const until = new Date(NOW - HOUR_MS).toISOString();

    const page = await list(ledger, { until, cursor: cursorAt("9999-12-31T23:59:59.999Z~") });

    expect(page.rows).toMatchObject([{ id: "c1" }]);
  });

  test.each<[string, Partial<ListQuery>]>([
    ["an empty ledger", {}],
    ["an until in the future", { until: "9999-12-31T23:59:59Z" }],
    ["an until long ago", { until: "1969-07-20T20:17:00Z" }],
    ["a since long ago", { since: "0000-01-01T00:00:00Z" }],
  ])("asks few times, and not one day after the other, for %s", async (_name, query) => {
    const { ledger, count } = counted(createMemoryLedger());

    expect((await list(ledger, query)).rows).toEqual([]);

    expect(count.rounds).toBeLessThanOrEqual(30);
    expect(count.queries).toBeLessThanOrEqual(4 * (366 + 16));
  });

  test("reaches an old command by pages of a year", async () => {
    const ledger = await ledgerWith([{ id: "old", acceptedAt: Date.UTC(2020, 1, 29) }]);

    const { ids, pages } = await listAll(ledger, { since: "2019-01-01T00:00:00Z" });

    expect(ids).toEqual(["old"]);
    expect(pages).toBeLessThanOrEqual(9);
  });

  test("reads nothing of a day from before the time that is asked for", async () => {
    const many = Array.from({ length: 800 }, (_, index) => ({
      id: `c${index}`,
      acceptedAt: NOW - HOUR_MS - index,
    }));
    const { ledger, count } = counted(
      await ledgerWith([...many, { id: "new", acceptedAt: NOW - 1 }]),
    );

    const page = await list(ledger, { since: new Date(NOW - 1_000).toISOString(), limit: 10 });

    expect(page).toMatchObject({ rows: [{ id: "new" }] });
    expect(page.cursor).toBeUndefined();
    expect(count).toMatchObject({ queries: 4, reads: 1 });
  });

  test("needs few queries for a page of one row with a rare status", async () => {
    const { ledger, count } = counted(
      await ledgerWith(
        Array.from({ length: 1_200 }, (_, index) => ({ id: `c${index}`, acceptedAt: NOW - index })),
      ),
    );

    expect(await list(ledger, { limit: 1, status: "failed" })).toMatchObject({ rows: [] });

    expect(count.rounds).toBeLessThanOrEqual(15);
  });

  test("lists a command again at its next write after an older version has replaced it", async () => {
    const ledger = await ledgerWith([{ id: "c1", acceptedAt: NOW - 5 }]);
    const stored = await ledger.read("command#own/c1");
    if (!stored) throw new Error("c1 is not stored");
    const { listing, ...unlisted } = wholeItem(stored);
    await ledger.write({ ...unlisted, version: 2 });
    const afterRollback = await listAll(ledger, {});

    await commands.update(ledger, "own/c1", (command) => ({ ...command, lostReplies: 1 }));

    expect(afterRollback.ids).toEqual([]);
    expect((await listAll(ledger, {})).ids).toEqual(["c1"]);
    expect((await ledger.read("command#own/c1"))?.listing).toEqual(listing);
  });

  test("leaves the row of a rejected request as it was, however often its id is rejected", async () => {
    const ledger = createMemoryLedger();
    const rejected = (n: number) => ({
      digest: `0000000${n}`,
      eventId: "e1",
      commandId: `c${n}`,
      operation: `operation-${n}`,
      reason: "invalid",
      problems: [],
      problemCount: 0,
      rejectedAt: NOW - 10 * HOUR_MS + n * HOUR_MS,
    });
    await recordRejection(ledger, "own", rejected(1));
    const first = await list(ledger);

    for (const n of [2, 3, 4, 5, 6, 7]) await recordRejection(ledger, "own", rejected(n));

    expect(first.rows).toMatchObject([
      { id: "c1", operation: "operation-1", at: new Date(NOW - 9 * HOUR_MS).toISOString() },
    ]);
    expect(await list(ledger)).toEqual(first);
  });

  test("lists a rejected request under an id that another request used for its command", async () => {
    const ledger = createMemoryLedger();
    const rejected = (digest: string, eventId: string, commandId: string, rejectedAt: number) => ({
      ...{ digest, eventId, commandId, rejectedAt, operation: digest, reason: "invalid" },
      ...{ problems: [], problemCount: 0 },
    });
    await recordRejection(ledger, "own", rejected("a", "e1", "shared", NOW - 2));
    await recordRejection(ledger, "own", rejected("b", "shared", "c2", NOW - 1));

    const { rows } = await list(ledger);

    expect(rows.map(({ id, operation }) => [id, operation])).toEqual([
      ["c2", "b"],
      ["shared", "a"],
    ]);
  });

  test("shows a rejected request without any id by its digest", async () => {
    const ledger = createMemoryLedger();
    const rejection = { digest: "0a", operation: "", reason: "invalid", problems: [] };
    await recordRejection(ledger, "own", { ...rejection, problemCount: 0, rejectedAt: NOW });

    expect((await list(ledger)).rows).toMatchObject([{ id: "0a", status: "rejected" }]);
  });

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

  test("shows the fields that an operator needs in each row", async () => {
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

    const { rows } = await listCommands(
      world.ledger,
      listQuerySchema().parse({}),
      world.clock.now(),
    );
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

  test("marks a record of a newer version as unreadable, and omits a deleted one", async () => {
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

    const { rows } = await listCommands(
      world.ledger,
      listQuerySchema().parse({}),
      world.clock.now(),
    );
    expect(rows.map(({ status }) => status)).toEqual(Array(4).fill("succeeded"));
    const indexWrites = [...listings.values()].flat().length;
    expect(indexWrites / rows.length).toBeLessThanOrEqual(1.2);
  });
});
