import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { axeViolations, overflow } from "./tab.ts";

/** Ignored by Git, for the eyes of who changes the page. */
const SCREENSHOTS = ".screenshots";

/** Opens a page of the console in an open tab, and waits until it has its data. */
export const visit = async (page: Page, hash: string): Promise<void> => {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.locator("main h1").waitFor();
  await expect.poll(() => page.getByText("Loading …").count()).toBe(0);
};

/** Writes what the whole page looks like to `.screenshots/NAME.png`. */
const screenshot = async (page: Page, name: string): Promise<void> => {
  await mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
};

/** Takes a screenshot, and expects a page that fits its window and has no violation of axe-core. */
export const expectSound = async (page: Page, name: string): Promise<void> => {
  await screenshot(page, name);
  expect(await axeViolations(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
};
