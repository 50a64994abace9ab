import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, describe, expect } from "vitest";
import { type ConsoleRun, openRun } from "./console-run.ts";
import { openTab } from "./tab.ts";
import { expectSound, visit } from "./visit.ts";

/** The pages of the navigation, by their hash. */
const PAGES = ["commands"] as const;

const LOOKS = [
  { width: 1280, theme: "light" },
  { width: 1280, theme: "dark" },
  { width: 390, theme: "light" },
  { width: 390, theme: "dark" },
] as const;

const CASES = PAGES.flatMap((name) => LOOKS.map((look) => ({ name, ...look })));

/** A run that all tests of the file share. */
const sharedRun = (args: readonly string[], until: string) =>
  [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies here.
    async ({}, use: (run: ConsoleRun) => Promise<void>) => {
      const state = await mkdtemp(join(tmpdir(), "skyhook-browser-"));
      const run = await openRun(args, state);
      await run.printed(until);
      await use(run);
      await run.stop();
      await rm(state, { recursive: true });
    },
    { scope: "file" },
  ] as const;

const test = base.extend<{ demo: ConsoleRun; empty: ConsoleRun }>({
  demo: [...sharedRun([], "steps of the demo ended as expected")],
  empty: [...sharedRun(["--no-demo"], "End: Ctrl-C")],
});

describe("each page", () => {
  test("is in the navigation", async ({ demo }) => {
    const { page } = await openTab();
    await page.goto(demo.pageUrl);
    const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    await links.first().waitFor();
    const hashes = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    expect(hashes).toEqual(PAGES.map((name) => `#/${name}`));
  });

  test.for(CASES)("$name is sound after the demo, at $width px, $theme", async (look, { demo }) => {
    const { page, troubles } = await openTab(look);
    await page.goto(demo.pageUrl);
    await visit(page, `#/${look.name}`);
    await expectSound(page, `${look.name}-${look.width}-${look.theme}`);
    expect(troubles).toEqual([]);
  });

  test.for(CASES)("$name is sound when empty, at $width px, $theme", async (look, { empty }) => {
    const { page, troubles } = await openTab(look);
    await page.goto(empty.pageUrl);
    await visit(page, `#/${look.name}`);
    await expectSound(page, `${look.name}-empty-${look.width}-${look.theme}`);
    expect(troubles).toEqual([]);
  });
});
