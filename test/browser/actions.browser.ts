import { expect } from "vitest";
import { openTab } from "./tab.ts";
import { visit } from "./visit.ts";
import { commandHash, test, WAITING } from "./worlds.ts";

test("Cancel asks first, and then cancels the command in the ledger", async ({ busy }) => {
  const { page, troubles } = await openTab();
  await page.goto(busy.pageUrl);
  await visit(page, commandHash(WAITING));
  const ask = page.getByRole("button", { name: "Cancel", exact: true });
  const dialog = page.getByRole("dialog");

  await ask.focus();
  await page.keyboard.press("Enter");
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  expect(await busy.get(`/commands/${WAITING}`)).toMatchObject({ status: "waiting" });

  await ask.click();
  await dialog.getByRole("button", { name: "Keep it" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(await busy.get(`/commands/${WAITING}`)).toMatchObject({ status: "waiting" });

  await ask.click();
  await dialog.getByRole("button", { name: "Cancel the command" }).click();
  await page.getByText("cancelled", { exact: true }).first().waitFor();
  expect(await busy.get(`/commands/${WAITING}`)).toMatchObject({ status: "cancelled" });
  await ask.waitFor({ state: "hidden" });
  expect(troubles).toEqual([]);
});
