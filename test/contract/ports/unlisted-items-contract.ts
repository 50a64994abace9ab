import { describe, expect, onTestFinished, test } from "vitest";
import type { Ledger, LedgerItem, Listing } from "../../../lib/platform/ports/ledger.ts";
import type { UnlistedItems } from "../../../lib/platform/ports/unlisted-items.ts";

interface Opened {
  readonly ledger: Ledger;
  readonly unlisted: UnlistedItems;
  close(): Promise<void>;
}

const PREFIXES = ["command#", "rejection#"];
const listing: Listing = {
  ...{ partition: "2026-11-22#0", sort: "09:00#c1", account: "local", sender: "000000000000" },
  ...{ operation: "update-policy", resource: "local/policy/1/1/1" },
};
const item = (key: string, version = 1): LedgerItem => ({
  ...{ key, version, dueAt: 100, expiresAt: 9_000_000 },
  value: { status: "accepted" },
});

/** The contract of the maintenance of the list. `open` returns an empty ledger. */
export const describeUnlistedItemsContract = (name: string, open: () => Promise<Opened>): void => {
  const openForTest = async (): Promise<Opened> => {
    const opened = await open();
    onTestFinished(opened.close);
    return opened;
  };

  describe(`unlisted items (${name})`, () => {
    test("finds items of the wanted kinds without a listing, over all pages", async () => {
      const { ledger, unlisted } = await openForTest();
      const wanted = Array.from({ length: 250 }, (_, index) => `command#own/c${index}`);
      for (const key of [...wanted, "rejection#own/e1", "commands#1", "lane#1"]) {
        await ledger.write(item(key));
      }
      await ledger.write({ ...item("command#own/listed"), listing });

      const found: string[] = [];
      let examined = 0;
      let cursor: string | undefined;
      do {
        const page = await unlisted.find(PREFIXES, cursor);
        found.push(...page.keys);
        examined += page.examined;
        cursor = page.cursor;
      } while (cursor !== undefined);

      expect(found.toSorted()).toEqual([...wanted, "rejection#own/e1"].toSorted());
      expect(examined).toBe(wanted.length + 4);
    });

    test("adds a listing, and changes nothing else of the item", async () => {
      const { ledger, unlisted } = await openForTest();
      await ledger.write(item("command#own/c1"));

      expect(await unlisted.addListing(item("command#own/c1"), listing)).toBe("added");

      expect(await ledger.read("command#own/c1")).toEqual({ ...item("command#own/c1"), listing });
      await expect
        .poll(() => ledger.list(listing.partition, undefined, 9))
        .toEqual([{ key: "command#own/c1", ...listing }]);
      expect(await unlisted.find(PREFIXES, undefined)).toMatchObject({ keys: [] });
    });

    test("adds a listing that has no other fields", async () => {
      const { ledger, unlisted } = await openForTest();
      const bare = { partition: "p", sort: "s" };
      await ledger.write(item("command#own/c1"));

      await unlisted.addListing(item("command#own/c1"), bare);

      expect((await ledger.read("command#own/c1"))?.listing).toEqual(bare);
    });

    test("lets a function that has read the item write its next version", async () => {
      const { ledger, unlisted } = await openForTest();
      await ledger.write(item("command#own/c1"));
      await unlisted.addListing(item("command#own/c1"), listing);

      expect(await ledger.write({ ...item("command#own/c1", 2), listing })).toBe("written");
    });

    test.each([
      ["another version", async (ledger: Ledger) => void (await ledger.write(item("c", 2)))],
      [
        "another listing",
        async (_ledger: Ledger, unlisted: UnlistedItems) =>
          void (await unlisted.addListing(item("c"), { partition: "p", sort: "first" })),
      ],
    ])("returns conflict and changes nothing for an item with %s", async (_name, change) => {
      const { ledger, unlisted } = await openForTest();
      await ledger.write(item("c"));
      await change(ledger, unlisted);
      const before = await ledger.read("c");

      expect(await unlisted.addListing(item("c"), listing)).toBe("conflict");

      expect(await ledger.read("c")).toEqual(before);
    });

    test("returns conflict and creates nothing for a deleted item", async () => {
      const { ledger, unlisted } = await openForTest();

      expect(await unlisted.addListing(item("c"), listing)).toBe("conflict");

      expect(await ledger.read("c")).toBeUndefined();
    });
  });
};
