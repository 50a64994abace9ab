import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { axeViolations, overflow } from "./tab.ts";

/** Ignored by Git, for the eyes of who changes the page. */
const SCREENSHOTS = ".screenshots";

/** Loads a page of the console in a tab that has the cookie, and waits until it has its data. */
export const visit = async (page: Page, hash: string): Promise<void> => {
  const { origin } = new URL(page.url());
  // A change of the hash alone would keep the document, with the old page for a moment.
  await page.goto("about:blank");
  await page.goto(`${origin}/${hash}`);
  await page.locator("main h1").waitFor();
  await expect.poll(() => page.getByText("Loading …").count()).toBe(0);
};

/** Writes what the whole page looks like to `.screenshots/NAME.png`. */
const screenshot = async (page: Page, name: string): Promise<void> => {
  await mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
};

const WIDTHS = [1280, 390];
const THEMES = ["light", "dark"] as const;

/**
 * Looks at the open page in a wide and a narrow window, light and dark: takes a screenshot of each, and expects no
 * violation of axe-core and nothing beyond the window.
 */
export const expectSound = async (page: Page, name: string): Promise<void> => {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      const look = `${name}-${width}-${colorScheme}`;
      await screenshot(page, look);
      expect(await axeViolations(page), look).toEqual([]);
    }
    expect(await overflow(page), `${name}-${width}`).toBe(0);
  }
};
