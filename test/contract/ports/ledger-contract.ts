import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import type {
  JsonObject,
  Ledger,
  LedgerItem,
  Listing,
} from "../../../lib/platform/ports/ledger.ts";
import { incompressible } from "../../support/incompressible.ts";

export interface OpenedLedger {
  readonly ledger: Ledger;
  close(): Promise<void>;
}

const item = (key: string, version: number, rest: Partial<LedgerItem> = {}): LedgerItem => ({
  key,
  version,
  value: { status: "accepted" },
  ...rest,
});

const anyText = fc.string({ unit: "binary" });
const anyData = fc.dictionary(anyText, fc.jsonValue({ stringUnit: "binary" }));

/** The contract of the ledger port, for one adapter. `open` returns an empty ledger. */
export const describeLedgerContract = (name: string, open: () => Promise<OpenedLedger>): void => {
  const openForTest = async (): Promise<Ledger> => {
    const { ledger, close } = await open();
    onTestFinished(close);
    return ledger;
  };

  describe(`a ledger (${name})`, () => {
    test("reads undefined for an item that was never written", async () => {
      const ledger = await openForTest();

      expect(await ledger.read("command#1")).toBeUndefined();
    });

    test("reads undefined for a key above the length limit", async () => {
      const ledger = await openForTest();

      expect(await ledger.read(`command#${"é".repeat(1_500)}`)).toBeUndefined();
    });

    test("reads an item unchanged", async () => {
      const ledger = await openForTest();
      const written = {
        key: "command#1",
        version: 1,
        dueAt: 1_767_225_600_123,
        expiresAt: 1_767_312_000_000,
        value: { status: "following", taskIds: ["a", "b"], outcome: null, attempts: 0.1 },
      };

      expect(await ledger.write(written)).toBe("written");

      expect(await ledger.read("command#1")).toEqual(written);
    });

    test("returns every JSON value exactly", async () => {
      const ledger = await openForTest();
      let made = 0;

      await fc.assert(
        fc.asyncProperty(anyData, async (data) => {
          made += 1;
          // Converted to JSON text first, because the promise excludes values that JSON cannot express, such as -0.
          const value: JsonObject = JSON.parse(JSON.stringify(data));
          await ledger.write(item(`any#${made}`, 1, { value }));
          expect((await ledger.read(`any#${made}`))?.value).toEqual(value);
        }),
      );
    });

    test("returns values nested deeper than DynamoDB's own maps allow", async () => {
      const ledger = await openForTest();
      const value = JSON.parse(`${'{"a":'.repeat(60)}1${"}".repeat(60)}`);

      await ledger.write(item("deep", 1, { value }));

      expect((await ledger.read("deep"))?.value).toEqual(value);
    });

    test("accepts an item of just under 400 kB", async () => {
      const ledger = await openForTest();
      const value = { text: "x".repeat(409_400) };

      expect(await ledger.write(item("command#1", 1, { value }))).toBe("written");

      expect((await ledger.read("command#1"))?.value).toEqual(value);
    });

    test("refuses an item of more than 400 kB, and keeps the previous one", async () => {
      const ledger = await openForTest();
      const text = incompressible(409_600);
      await ledger.write(item("command#1", 1));

      await expect(ledger.write(item("command#1", 2, { value: { text } }))).rejects.toThrow(
        "Item size has exceeded the maximum allowed size",
      );

      expect(await ledger.read("command#1")).toEqual(item("command#1", 1));
    });

    test("does not change when the written object changes", async () => {
      const ledger = await openForTest();
      const value = { status: "accepted" };

      await ledger.write(item("command#1", 1, { value }));
      value.status = "succeeded";

      expect((await ledger.read("command#1"))?.value).toEqual({ status: "accepted" });
    });

    test.each([
      { case: "version 1 of an existing item", stored: 2, version: 1 },
      { case: "the stored version again", stored: 2, version: 2 },
      { case: "a version after a gap", stored: 2, version: 4 },
    ])("returns conflict and changes nothing for $case", async ({ stored, version }) => {
      const ledger = await openForTest();
      for (let each = 1; each <= stored; each += 1) {
        await ledger.write(item("lane#1", each, { value: { holder: each }, dueAt: 100 }));
      }

      expect(await ledger.write(item("lane#1", version, { value: { holder: 9 } }))).toBe(
        "conflict",
      );

      expect(await ledger.read("lane#1")).toEqual({
        key: "lane#1",
        version: 2,
        value: { holder: 2 },
        dueAt: 100,
      });
      await expect.poll(() => ledger.listDue(100, 10)).toEqual([{ key: "lane#1", dueAt: 100 }]);
    });

    test.each([2, 3])("returns conflict for version %i of a missing item", async (version) => {
      const ledger = await openForTest();

      expect(await ledger.write(item("lane#1", version, { dueAt: 100 }))).toBe("conflict");

      expect(await ledger.read("lane#1")).toBeUndefined();
      expect(await ledger.listDue(100, 10)).toEqual([]);
    });

    test.each([1, 2])(
      "returns conflict for a repeated write of version %i, as after a lost response",
      async (version) => {
        const ledger = await openForTest();
        if (version > 1) await ledger.write(item("lane#1", 1));
        const lost = item("lane#1", version, { value: { holder: "us" }, dueAt: 100 });
        await ledger.write(lost);

        expect(await ledger.write(lost)).toBe("conflict");

        expect(await ledger.read("lane#1")).toEqual(lost);
      },
    );

    test("accepts a write on the stored version after a conflict", async () => {
      const ledger = await openForTest();
      await ledger.write(item("lane#1", 1));
      await ledger.write(item("lane#1", 3));

      expect(await ledger.write(item("lane#1", 2, { value: { holder: "us" } }))).toBe("written");

      expect(await ledger.read("lane#1")).toEqual(item("lane#1", 2, { value: { holder: "us" } }));
    });

    test("keeps nothing of a refused write, neither due time nor expiry", async () => {
      const ledger = await openForTest();
      await ledger.write(item("lane#1", 1));

      await ledger.write(item("lane#1", 1, { dueAt: 100, expiresAt: 1_767_312_000_000 }));

      expect(await ledger.read("lane#1")).toEqual(item("lane#1", 1));
      expect(await ledger.listDue(100, 10)).toEqual([]);
    });

    test("accepts exactly one of many concurrent creations", async () => {
      const ledger = await openForTest();
      const holders = Array.from({ length: 20 }, (_, index) => `holder-${index}`);

      const answers = await Promise.all(
        holders.map((holder) => ledger.write(item("lane#1", 1, { value: { holder } }))),
      );

      expect(answers.filter((answer) => answer === "written")).toHaveLength(1);
      expect((await ledger.read("lane#1"))?.value).toEqual({
        holder: holders[answers.indexOf("written")],
      });
    });

    test("accepts exactly one of many concurrent writes of the same version", async () => {
      const ledger = await openForTest();
      await ledger.write(item("lane#1", 1));
      const holders = Array.from({ length: 20 }, (_, index) => `holder-${index}`);

      const answers = await Promise.all(
        holders.map((holder) => ledger.write(item("lane#1", 2, { value: { holder } }))),
      );

      expect(answers.filter((answer) => answer === "written")).toHaveLength(1);
      expect(await ledger.read("lane#1")).toEqual({
        key: "lane#1",
        version: 2,
        value: { holder: holders[answers.indexOf("written")] },
      });
    });

    test("lists items that are due at an instant, earliest first", async () => {
      const ledger = await openForTest();
      await ledger.write(item("late", 1, { dueAt: 3000 }));
      await ledger.write(item("soon", 1, { dueAt: 1000 }));
      await ledger.write(item("exact", 1, { dueAt: 2000 }));
      await ledger.write(item("zero", 1, { dueAt: 0 }));
      await ledger.write(item("never", 1));

      await expect
        .poll(() => ledger.listDue(2000, 10))
        .toEqual([
          { key: "zero", dueAt: 0 },
          { key: "soon", dueAt: 1000 },
          { key: "exact", dueAt: 2000 },
        ]);
    });

    test("lists the items that are due from one instant to another, both included", async () => {
      const ledger = await openForTest();
      for (const dueAt of [0, 9, 10, 11, 20, 21])
        await ledger.write(item(`task#${dueAt}`, 1, { dueAt }));

      await expect
        .poll(() => ledger.listDue(20, 10, 0, 10))
        .toEqual([
          { key: "task#10", dueAt: 10 },
          { key: "task#11", dueAt: 11 },
          { key: "task#20", dueAt: 20 },
        ]);
      expect(await ledger.listDue(20, 2, 0, 9.5)).toEqual([
        { key: "task#10", dueAt: 10 },
        { key: "task#11", dueAt: 11 },
      ]);
    });

    test("lists no more than the limit, and the earliest items", async () => {
      const ledger = await openForTest();
      for (const dueAt of [5, 3, 1, 4, 2]) await ledger.write(item(`task#${dueAt}`, 1, { dueAt }));

      await expect
        .poll(() => ledger.listDue(10, 2))
        .toEqual([
          { key: "task#1", dueAt: 1 },
          { key: "task#2", dueAt: 2 },
        ]);
    });

    test("lists all due items, even more than a page of the store", async () => {
      const ledger = await openForTest();
      const longKey = (index: number): string => `task#${String(index).padStart(2_000, "0")}`;
      const indexes = Array.from({ length: 600 }, (_, index) => index);
      await Promise.all(
        indexes.map((index) => ledger.write(item(longKey(index), 1, { dueAt: index }))),
      );

      await expect
        .poll(() => ledger.listDue(1_000, 1_000))
        .toEqual(indexes.map((index) => ({ key: longKey(index), dueAt: index })));
    });

    describe("list", () => {
      const listed = (key: string, sort: string, rest: Partial<Listing> = {}): LedgerItem =>
        item(key, 1, { listing: { partition: "2026-11-22#0", sort, ...rest } });
      const keysOf = async (ledger: Ledger, ...page: Parameters<Ledger["list"]>) =>
        (await ledger.list(...page)).map(({ key }) => key);

      test("shows an item with its fields, and leaves out one without a listing", async () => {
        const ledger = await openForTest();
        const listing = {
          partition: "2026-11-22#0",
          sort: "09:00#1",
          account: "local",
          operation: "update-policy",
          sender: "000000000000",
          resource: "local/policy/1/1/1",
        };
        await ledger.write(item("command#1", 1, { listing }));
        await ledger.write(item("lane#1", 1));

        await expect
          .poll(() => ledger.list("2026-11-22#0", undefined, 10))
          .toEqual([{ key: "command#1", ...listing }]);
        expect((await ledger.read("command#1"))?.listing).toEqual(listing);
      });

      test("pages through one partition in descending order", async () => {
        const ledger = await openForTest();
        for (const sort of ["b", "d", "a", "e", "c"]) await ledger.write(listed(sort, sort));
        for (const partition of ["2026-11-22", "2026-11-22#1", "2026-11-22#00"]) {
          await ledger.write(item(partition, 1, { listing: { partition, sort: "b" } }));
        }
        const all = ["e", "d", "c", "b", "a"];
        await expect.poll(() => keysOf(ledger, "2026-11-22#0", undefined, 9)).toEqual(all);

        const pages = [undefined, "d", "b", "a"];
        const found = await Promise.all(
          pages.map((before) => keysOf(ledger, "2026-11-22#0", before, 2)),
        );

        expect(found).toEqual([["e", "d"], ["c", "b"], ["a"], []]);
      });

      test("orders and pages by the bytes of UTF-8", async () => {
        const ledger = await openForTest();
        const all = ["\u{1f600}", "\uff5e", "é", "b#/", "b\u001b"];
        for (const sort of all) await ledger.write(listed(sort, sort));
        await expect.poll(() => keysOf(ledger, "2026-11-22#0", undefined, 9)).toEqual(all);

        expect(await keysOf(ledger, "2026-11-22#0", "\u{1f600}", 9)).toEqual(all.slice(1));
        expect(await keysOf(ledger, "2026-11-22#0", "\uff5e", 9)).toEqual(all.slice(2));
      });

      test("takes a sort of 1,024 bytes", async () => {
        const ledger = await openForTest();
        const sort = "é".repeat(512);
        await ledger.write(listed("a", sort));

        await expect.poll(() => keysOf(ledger, "2026-11-22#0", undefined, 9)).toEqual(["a"]);
      });

      test("continues after a deleted or missing entry", async () => {
        const ledger = await openForTest();
        for (const sort of ["a", "c"]) await ledger.write(listed(sort, sort));

        await expect.poll(() => keysOf(ledger, "2026-11-22#0", "b", 9)).toEqual(["a"]);
      });

      test("keeps the position of an item in later versions, and drops an item whose new version has no listing", async () => {
        const ledger = await openForTest();
        for (const sort of ["a", "b"]) await ledger.write(listed(sort, sort));
        await ledger.write({ ...listed("a", "a"), version: 2, dueAt: 100, value: { new: true } });
        await ledger.write(item("b", 2));

        await expect.poll(() => keysOf(ledger, "2026-11-22#0", undefined, 9)).toEqual(["a"]);
      });

      test("shows nothing of a conflicting write", async () => {
        const ledger = await openForTest();
        await ledger.write(item("a", 1));
        await ledger.write(listed("a", "a"));

        expect(await ledger.list("2026-11-22#0", undefined, 9)).toEqual([]);
      });

      test("lists more entries than fit into a page of the store", async () => {
        const ledger = await openForTest();
        const sorts = Array.from({ length: 700 }, (_, index) => String(index).padStart(1_000, "0"));
        const resource = "r".repeat(600);
        await Promise.all(sorts.map((sort) => ledger.write(listed(sort, sort, { resource }))));

        await expect
          .poll(() => keysOf(ledger, "2026-11-22#0", undefined, 1_000))
          .toEqual(sorts.toReversed());
      });
    });

    test("no longer lists an item whose new version has no due time", async () => {
      const ledger = await openForTest();
      await ledger.write(item("task#1", 1, { dueAt: 1000, expiresAt: 9_000_000 }));
      await ledger.write(item("task#1", 2));

      await expect.poll(() => ledger.listDue(5000, 10)).toEqual([]);
      expect(await ledger.read("task#1")).toEqual({
        key: "task#1",
        version: 2,
        value: { status: "accepted" },
      });
    });

    test("lists an item once, at its latest due time", async () => {
      const ledger = await openForTest();
      await ledger.write(item("task#1", 1, { dueAt: 1000 }));
      await ledger.write(item("task#1", 2, { dueAt: 1_767_225_600_000 }));

      await expect
        .poll(() => ledger.listDue(1_767_225_600_000, 10))
        .toEqual([{ key: "task#1", dueAt: 1_767_225_600_000 }]);
      await expect.poll(() => ledger.listDue(1_767_225_599_999, 10)).toEqual([]);
    });
  });
};
