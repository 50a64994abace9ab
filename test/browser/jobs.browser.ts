import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import * as z from "zod";
import { aiTasksViewSchema } from "../../lib/admin/ai-tasks-view.ts";
import { thresholdsViewSchema } from "../../lib/admin/thresholds-view.ts";
import { readingViewSchema } from "../../lib/jobs/prices/memory.ts";
import { startRun, temporaryFolder } from "./console-run.ts";
import { HOSTILE_CALL, openTab } from "./tab.ts";
import { expectSound, visit } from "./visit.ts";
import { test } from "./worlds.ts";

const HOSTILE = `<img src=x onerror="${HOSTILE_CALL}">`;

const thresholdsFile = (bytes: string): string =>
  JSON.stringify({
    prune: true,
    thresholds: [
      { name: "reaching_used_space", bucket_name: "photos", bytes },
      { name: "reaching_files_quantity", storage_name: HOSTILE, count: "18446744073709551615" },
    ],
  });

const startThresholds = async () => {
  const file = join(await temporaryFolder(), "thresholds.json");
  await writeFile(file, thresholdsFile("500 GiB"));
  const run = await startRun(["--no-demo", "--thresholds", file]);
  const view = async () => thresholdsViewSchema.parse(await run.get("/thresholds"));
  await expect.poll(async () => (await view()).lastSync?.outcome).toBe("complete");
  return { run, file, view };
};

/** Runs the job of a button, and returns what its dialog says in the end. */
const runJob = async (page: Page, label: string): Promise<string> => {
  await page.getByRole("button", { name: label }).click();
  const dialog = page.getByRole("dialog", { name: label });
  await dialog.getByRole("button", { name: "Run now" }).click();
  await dialog.getByRole("button", { name: "Close" }).waitFor();
  const text = await dialog.getByRole("status").innerText();
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  return text;
};

const rowTexts = (page: Page, table: string): Promise<readonly string[]> =>
  page.getByRole("region", { name: table }).locator("tbody tr").allInnerTexts();

test("the thresholds page shows a drift, undoes it by its button, and keeps it in the history", async () => {
  const { run, view } = await startThresholds();
  const { page, troubles } = await openTab();
  await page.goto(run.pageUrl);
  await visit(page, "#/thresholds");
  expect((await rowTexts(page, "Wanted and actual thresholds")).join()).toContain(HOSTILE);
  await run.post("/commands", {
    metadata: { commandId: "c1" },
    data: {
      operation: "update-storage-event",
      body: { name: "reaching_used_space", bucket_name: "photos", bytes: "1" },
    },
  });
  await expect.poll(async () => (await view()).rows[0]?.action).toBe("update");

  await page.getByRole("button", { name: "Read again" }).click();
  await page.getByRole("cell", { name: "update", exact: true }).waitFor();
  await expectSound(page, "thresholds-drift");
  const result = await runJob(page, "Sync now");

  expect(result).toBe("The run ended and published ThresholdsDrifted, ThresholdsSynced.");
  await page.getByText("nothing to do, 2 unchanged").waitFor();
  const [drift = ""] = await rowTexts(page, "Drift history");
  expect(drift).toContain("reaching_used_space bucket photos");
  const after = await view();
  expect(after.drifts).toMatchObject([{ missing: 0, different: 1, unwanted: 0 }]);
  expect(after.rows.map(({ action }) => action)).toEqual(["none", "none"]);
  await expectSound(page, "thresholds-history");
  expect(troubles).toEqual([]);
});

test("Cancel and Escape close the dialog, and nothing runs", async () => {
  const { run, view } = await startThresholds();
  const before = (await view()).lastSync;
  const { page } = await openTab(390);
  await page.goto(run.pageUrl);
  await visit(page, "#/thresholds");
  const dialog = page.getByRole("dialog");
  for (const close of [
    () => page.keyboard.press("Escape"),
    () => dialog.getByRole("button", { name: "Cancel" }).click(),
  ]) {
    await page.getByRole("button", { name: "Sync now" }).press("Enter");
    await dialog.waitFor();
    await close();
    await dialog.waitFor({ state: "detached" });
  }

  expect((await view()).lastSync).toEqual(before);
});

test("an invalid and a missing file are explained", async () => {
  const { run, file } = await startThresholds();
  const { page, troubles } = await openTab();
  await page.goto(run.pageUrl);
  await writeFile(file, "thresholds:\n  - { name: reaching_used_space }\n");

  await visit(page, "#/thresholds");

  await page.getByText("line 2: thresholds.0.bytes: required").waitFor();
  await expectSound(page, "thresholds-invalid");
  await rm(file);
  await page.getByRole("button", { name: "Read again" }).click();
  await page.getByText("does not exist, so a sync changes nothing").waitFor();
  expect(troubles).toEqual([]);
});

const canvasWidth = (page: Page): Promise<number> =>
  page.locator(".chart canvas").evaluate((canvas) => canvas.clientWidth);

/** Colours that the chart's canvas shows; one means that nothing is drawn. */
const coloursOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`(() => {
    const canvas = document.querySelector(".chart canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const found = new Set();
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] === 255) found.add(data.slice(at, at + 3).join());
    }
    return [...found];
  })()`);

test("the price page draws a chart, follows window and theme, and saves exact CSV", async ({
  demo,
}) => {
  const { page, troubles } = await openTab();
  await page.goto(demo.pageUrl);
  await visit(page, "#/prices");
  await page.getByRole("link", { name: "web-server" }).click();
  await page.locator(".chart canvas").waitFor();
  const wide = await canvasWidth(page);
  const light = await coloursOf(page);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  const saved = join(await temporaryFolder(), "prices.csv");
  await (await download).saveAs(saved);
  const csv = await readFile(saved, "utf8");
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(() => coloursOf(page)).not.toEqual(light);
  await page.setViewportSize({ width: 390, height: 800 });
  await expect.poll(() => canvasWidth(page)).toBeLessThan(wide / 2);

  const readings = z.array(readingViewSchema).parse(await demo.get("/prices/web-server"));
  expect(readings.length).toBeGreaterThan(1);
  expect(await rowTexts(page, "Readings, the newest first")).toHaveLength(readings.length);
  const lines = csv.trim().split("\r\n");
  expect(lines).toHaveLength(readings.length + 1);
  for (const [index, { total }] of readings.entries()) {
    expect(lines[index + 1]).toContain(total.per_month);
  }
  const label = await page.getByRole("img").getAttribute("aria-label");
  expect(label).toContain(`readings: ${readings.length}, changes: 1.`);
  expect(light.length).toBeGreaterThan(3);
  expect(troubles).toEqual([]);
});

test("the amount of the chart can be chosen", async ({ demo }) => {
  const { page } = await openTab();
  await page.goto(demo.pageUrl);
  await visit(page, "#/prices/web-server");

  await page.getByLabel("amount").selectOption("per hour");

  await expect
    .poll(() => page.getByRole("img").getAttribute("aria-label"))
    .toContain("web-server per hour");
});

test("a snapshot by the button fills an empty list of prices", async () => {
  const file = join(await temporaryFolder(), "watchlist.yaml");
  await writeFile(file, "items: [{ name: ddos, ddos: { region_id: 76 } }]\n");
  const run = await startRun(["--no-demo", "--watchlist", file]);
  const { page, troubles } = await openTab();
  await page.goto(run.pageUrl);
  await visit(page, "#/prices");

  expect(await runJob(page, "Snapshot now")).toMatch(/^The run ended and published PricesCaptured/);

  await page.getByRole("link", { name: "ddos" }).waitFor();
  await page.getByText("per month, items: 1").waitFor();
  expect(troubles).toEqual([]);
});

test("an ended AI task is shown with its event, and a run can be started", async ({ demo }) => {
  const { page, troubles } = await openTab();
  await page.goto(demo.pageUrl);
  await visit(page, "#/ai-tasks");

  const result = await runJob(page, "Check now");

  expect(result).toMatch(/^The run ended/);
  const { over, open } = aiTasksViewSchema.parse(await demo.get("/ai-tasks"));
  expect(over.length).toBeGreaterThan(0);
  await expect.poll(() => rowTexts(page, "Running tasks")).toHaveLength(open.length);
  const rows = (await rowTexts(page, "Ended and vanished tasks")).join("\n");
  for (const { taskId, event } of over) {
    expect(rows).toContain(taskId);
    expect(rows).toContain(event.id);
  }
  expect(troubles).toEqual([]);
});
