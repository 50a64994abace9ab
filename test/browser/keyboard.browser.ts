import { expect, test } from "vitest";
import { startRun } from "./console-run.ts";
import { openTab } from "./tab.ts";

test("the keyboard alone reaches the filters and a command", async () => {
  const run = await startRun([]);
  await run.printed("steps of the demo ended as expected");
  const { page, troubles } = await openTab();
  await page.goto(run.pageUrl);
  await page.getByRole("link", { name: "demo-create-router" }).waitFor();
  /** Presses Tab until an element with this name has the focus. */
  const tabTo = async (name: string): Promise<void> => {
    const focused = page.locator(":focus");
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press("Tab");
      const text = await focused.evaluate(
        (element) => element.textContent || element.getAttribute("name"),
      );
      if (text === name) return;
    }
    throw new Error(`60 presses of Tab did not reach ${name}`);
  };

  await tabTo("operation");
  await page.keyboard.type("create-router");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("main tbody tr").count()).toBe(1);
  await tabTo("demo-create-router");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "demo-create-router" }).waitFor();
  expect(troubles).toEqual([]);
});
