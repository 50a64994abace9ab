import { describe, expect } from "vitest";
import { openTab } from "./tab.ts";
import { expectSound, visit } from "./visit.ts";
import { test } from "./worlds.ts";

const HOSTILE = "<img src=x onerror=alert(1)>";

describe("the page of events", () => {
  test("shows an event put by hand, and which reactions did not match", async ({ demo }) => {
    const { page, troubles } = await openTab();
    await page.goto(demo.pageUrl);
    await visit(page, "#/events");
    await page.getByText("Put an event by hand", { exact: true }).click();
    const event = { source: "test", "detail-type": HOSTILE, detail: {} };
    await page.getByLabel("event as JSON").fill(JSON.stringify(event));
    await page.getByRole("button", { name: "Put the event" }).click();

    await page.getByText("No reaction matches it").waitFor();
    await page.getByRole("cell", { name: HOSTILE }).first().waitFor();
    await expectSound(page, "events-put");
    expect(troubles).toEqual([]);
  });

  test("follows the commands of an event, and links to them", async ({ demo }) => {
    const { page, troubles } = await openTab();
    await page.goto(demo.pageUrl);
    await visit(page, "#/events?command=from-the-page");
    await page.getByText("Put an event by hand", { exact: true }).click();
    await page.getByRole("button", { name: "a command is requested" }).click();
    const form = page.getByLabel("event as JSON");
    await form.fill((await form.inputValue()).replace("from-the-console-1", "from-the-page"));
    await page.getByRole("button", { name: "Put the event" }).click();

    await page.getByRole("cell", { name: "CommandSucceeded" }).waitFor();
    expect(await page.getByRole("table", { name: "" }).getByRole("row").count()).toBe(4);
    const link = page
      .getByLabel("Result of the event")
      .getByRole("link", { name: "from-the-page" });
    await link.click();
    await page.getByRole("heading", { level: 1, name: "from-the-page" }).waitFor();
    expect(troubles).toEqual([]);
  });

  test("keeps at most 200 rows, and misses none while it is paused", async ({ empty }) => {
    const { page } = await openTab();
    await page.goto(empty.pageUrl);
    await visit(page, "#/events");
    await page.getByText("Live.").waitFor();
    const put = (n: number) =>
      empty.post("/events", { source: "test", "detail-type": `Number${n}`, detail: {} });
    await page.getByRole("button", { name: "Pause" }).click();
    for (let n = 1; n <= 250; n += 1) await put(n);
    expect(await page.getByRole("cell", { name: /^Number/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Continue" }).click();

    await page.getByRole("cell", { name: "Number250", exact: true }).waitFor();
    const types = page.getByRole("cell", { name: /^Number/ });
    await expect.poll(() => types.count()).toBe(200);
    expect(await types.last().textContent()).toBe("Number51");
  });
});
