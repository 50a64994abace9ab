import { source as axe } from "axe-core";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { inject, onTestFinished } from "vitest";
import * as z from "zod";

/**
 * One window of the browser, with its own cookies. Records everything that a correct page never does, so that a test can
 * end with `expect(tab.troubles).toEqual([])`.
 */
export interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  /**
   * Uncaught errors, console errors, dialogs, violations of the Content-Security-Policy, and executed hostile text
   * (`HOSTILE_TEXTS` call `hostile()`).
   */
  readonly troubles: readonly string[];
}

/** Called by hostile text if a page executes it. */
export const HOSTILE_CALL = "hostile()";

/** Runs before each document. A page cannot prevent it by its Content-Security-Policy. */
const WATCH = `
  window.hostile = () => window.reportTrouble("executed: a hostile text");
  addEventListener("securitypolicyviolation", (event) =>
    window.reportTrouble("policy: " + event.effectiveDirective + " blocks " + (event.blockedURI || event.sample)));
`;

/** Chromium prints each refused request, and each one to a run that has stopped. The page shows them itself. */
const REFUSED_REQUEST = "Failed to load resource";

/** Opens a window, which is closed when the test ends. @param width CSS pixels */
export const openTab = async (width = 1280, locale = "en-GB"): Promise<Tab> => {
  const browser = await chromium.connect(inject("browser"));
  onTestFinished(() => browser.close());
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    // Times in screenshots do not depend on the machine.
    timezoneId: "UTC",
    locale,
    reducedMotion: "reduce",
  });
  const troubles: string[] = [];
  await context.exposeFunction("reportTrouble", (trouble: string) => troubles.push(trouble));
  await context.addInitScript({ content: WATCH });
  await context.addInitScript({ content: axe });
  const page = await context.newPage();
  page.on("pageerror", (error) => troubles.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !text.startsWith(REFUSED_REQUEST)) {
      troubles.push(`console: ${text}`);
    }
  });
  page.on("dialog", (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, context, troubles };
};

const axeResults = z.object({
  violations: z.array(
    z.object({ id: z.string(), nodes: z.array(z.object({ target: z.array(z.unknown()) })) }),
  ),
});

/** Rules that axe-core finds broken in the present state of the page: `rule: selector, selector`. */
export const axeViolations = async (page: Page): Promise<readonly string[]> => {
  const { violations } = axeResults.parse(await page.evaluate("axe.run()"));
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`,
  );
};

/** Pixels by which the page is wider than the window; the reader would have to scroll sideways. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate("document.documentElement.scrollWidth - innerWidth");
