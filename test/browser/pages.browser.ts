import { describe, expect } from "vitest";
import { openTab } from "./tab.ts";
import { expectSound, visit } from "./visit.ts";
import { commandHash, HOLDER, test, WAITING } from "./worlds.ts";

/** The pages of the navigation, by their hash. */
const PAGES = [
  "commands",
  "send",
  "lanes",
  "tasks",
  "dead-letters",
  "events",
  "thresholds",
  "prices",
  "ai-tasks",
  "provider",
];

const DEMO = [
  ...PAGES.map((name) => ({ name, hash: `#/${name}` })),
  { name: "command-succeeded", hash: commandHash("demo-scale-container") },
  { name: "command-failed", hash: commandHash("demo-unreachable-registry") },
  { name: "command-rejected", hash: commandHash("demo-invalid-port") },
  { name: "command-unknown", hash: commandHash("never-sent") },
  { name: "price", hash: "#/prices/web-server" },
  { name: "price-unknown", hash: "#/prices/no-such-item" },
  { name: "not-found", hash: "#/no-such-page" },
];
const EMPTY = PAGES.map((name) => ({ name: `${name}-empty`, hash: `#/${name}` }));
const BUSY = [
  { name: "lanes-busy", hash: "#/lanes" },
  { name: "tasks-busy", hash: "#/tasks" },
  { name: "command-following", hash: commandHash(HOLDER) },
  { name: "command-waiting", hash: commandHash(WAITING) },
];

/** Each view in each window and theme: sound, and without trouble. */
const expectSoundView = async (pageUrl: string, { name, hash }: { name: string; hash: string }) => {
  const { page, troubles } = await openTab();
  await page.goto(pageUrl);
  await visit(page, hash);
  await expectSound(page, name);
  expect(troubles).toEqual([]);
};

describe("each page", () => {
  test("is in the navigation", async ({ empty }) => {
    const { page } = await openTab();
    await page.goto(empty.pageUrl);
    const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    await links.first().waitFor();
    const hashes = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    expect(hashes).toEqual(PAGES.map((name) => `#/${name}`));
  });

  test.for(EMPTY)("$name fits and is accessible", (view, { empty }) =>
    expectSoundView(empty.pageUrl, view),
  );

  test.for(BUSY)("$name fits and is accessible", (view, { busy }) =>
    expectSoundView(busy.pageUrl, view),
  );

  test.for(DEMO)("$name fits and is accessible", (view, { demo }) =>
    expectSoundView(demo.pageUrl, view),
  );
});
