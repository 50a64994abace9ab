import { expect, test } from "vitest";
import { endedCommands, seedCommands } from "../support/seeded-commands.ts";
import { startRun, temporaryFolder } from "./console-run.ts";
import { openTab } from "./tab.ts";

test("pages through 10,000 commands, with and without a filter", async () => {
  const data = await temporaryFolder();
  await seedCommands(data, endedCommands(10_000, Date.now()));
  const run = await startRun(["--no-demo", "--data", data]);
  const { page, troubles } = await openTab();
  const rows = page.locator("main tbody tr");

  await page.goto(run.pageUrl);
  await expect.poll(() => rows.count()).toBe(50);
  expect(await rows.first().innerText()).toContain("seeded-0");
  await page.getByRole("button", { name: "Older commands" }).click();
  await expect.poll(() => rows.count()).toBe(100);
  expect(await rows.last().innerText()).toContain("seeded-99");

  await page.getByLabel("status").selectOption("failed");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("link", { name: "seeded-900", exact: true }).waitFor();
  const statuses = await page.locator("main tbody tr .badge").allInnerTexts();
  expect(new Set(statuses)).toEqual(new Set(["failed"]));

  // The newest thousand has none, so the page is empty, but not the end of the list.
  await page.getByLabel("status").selectOption("cancelled");
  await page.getByRole("button", { name: "Filter" }).click();
  await expect.poll(() => rows.count()).toBe(0);
  await page.getByRole("button", { name: "Older commands" }).waitFor();
  expect(troubles).toEqual([]);
});
