import { setTimeout as sleep } from "node:timers/promises";
import type { Page, Route } from "playwright-core";
import { describe, expect, onTestFinished } from "vitest";
import { updatePolicy } from "../support/requests.ts";
import { openTab } from "./tab.ts";
import { visit } from "./visit.ts";
import { commandHash, test } from "./worlds.ts";

/*
 * What the page asks for, and when. The answers of Skyhook are replaced by those that a test needs.
 */

/** Answers each GET or POST of a path with the value of `answer`. @returns how often it was asked */
const answering = async (
  page: Page,
  path: RegExp,
  answer: (route: Route, nth: number) => unknown,
): Promise<() => number> => {
  let asked = 0;
  onTestFinished(() => page.unrouteAll({ behavior: "ignoreErrors" }));
  await page.route(path, async (route) => {
    asked += 1;
    const json = await answer(route, asked);
    await route.fulfill({ status: route.request().method() === "POST" ? 202 : 200, json });
  });
  return () => asked;
};

/** Hides and shows the page, as a change of the tab does. */
const switchTabs = (page: Page): Promise<void> =>
  page.evaluate(`for (const state of ["hidden", "visible"]) {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }`);

const rowsOf = async (page: Page, table: string): Promise<string> =>
  (await page.getByRole("region", { name: table }).locator("tbody tr").allInnerTexts()).join();

describe("a change of the tab", () => {
  test("reads nothing again on a page that reads only on request", async ({ empty }) => {
    const { page } = await openTab();
    await page.goto(empty.pageUrl);
    await visit(page, "#/thresholds");
    const asked = await answering(page, /\/thresholds$/, () => ({}));

    for (let n = 0; n < 3; n += 1) await switchTabs(page);
    await sleep(300);

    expect(asked()).toBe(0);
  });

  test("begins no second read while one is under way", async ({ empty }) => {
    const { page } = await openTab();
    await page.goto(empty.pageUrl);
    await visit(page, "#/commands");
    const page1 = { rows: [] };
    let atOnce = 0;
    let most = 0;
    const asked = await answering(page, /\/commands(\?|$)/, async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await sleep(300);
      atOnce -= 1;
      return page1;
    });
    await switchTabs(page);
    await expect.poll(asked).toBe(1);

    for (let n = 0; n < 3; n += 1) await switchTabs(page);
    await expect.poll(asked).toBe(2);

    expect(most).toBe(1);
  });
});

test("a cancellation of many that is stopped asks for no further page", async ({ empty }) => {
  const { page } = await openTab();
  await page.goto(empty.pageUrl);
  const row = { cancel: { kind: "stopped", status: "cancelled" } };
  const until = "2026-01-01T00:00:00.000Z";
  await visit(page, "#/commands?status=waiting");
  await answering(page, /\/commands\/cancel\/preview/, () => ({ rows: [row], until }));
  const posted = await answering(page, /\/commands\/cancel$/, async (_, nth) => {
    await sleep(100);
    return { rows: [row], until, cursor: `c${nth}` };
  });

  await page.getByRole("button", { name: "Cancel matching …" }).click();
  await page.getByRole("button", { name: "Cancel 1 command" }).click();
  await expect.poll(posted).toBeGreaterThan(1);
  await page.getByRole("button", { name: "Stop" }).click();
  const atStop = posted();
  await sleep(1_000);

  expect(posted()).toBeLessThanOrEqual(atStop + 1);
});

test("AI tasks stay listed when newer ones move them to a later page", async ({ demo }) => {
  const { page } = await openTab(1280, "en-US");
  await page.goto(demo.pageUrl);
  await visit(page, "#/ai-tasks");
  const ended = (n: number) => ({
    ...{ taskId: `task-${n}`, state: "ended", status: "SUCCESS" },
    at: `2026-01-02T00:0${n}:00.000Z`,
    event: { type: "AiTaskEnded", id: `event-${n}`, state: "published" },
  });
  const view = { account: "main", watch: {}, open: [] };
  let isLater = false;
  await answering(page, /\/ai-tasks(\?|$)/, (route) => {
    if (route.request().url().includes("cursor=")) return { ...view, over: [ended(3), ended(2)] };
    const over = isLater ? [ended(6), ended(5)] : [ended(5), ended(4)];
    return { ...view, over, cursor: "next" };
  });
  const table = "Ended and vanished tasks";
  await expect.poll(() => rowsOf(page, table)).toContain("task-4");
  await page.getByRole("button", { name: "Older tasks" }).click();
  await expect.poll(() => rowsOf(page, table)).toContain("task-2");

  isLater = true;
  await expect.poll(() => rowsOf(page, table)).toContain("task-6");

  const rows = await rowsOf(page, table);
  expect([...rows.matchAll(/task-(\d)/g)].map(([, n]) => n).join("")).toBe("65432");
  // Five minutes past midnight.
  expect(rows).toContain("Jan 2, 00:05:00");
});

test("the page of a command says so when not all dead letters could be read", async ({ empty }) => {
  const { page } = await openTab();
  await page.goto(empty.pageUrl);
  await visit(page, commandHash("never-sent"));
  await answering(page, /\/dead-letters$/, () => ({ deadLetters: [], more: 37 }));

  await page.getByRole("button", { name: "Look for dead letters of this command" }).click();

  await page
    .getByText("None found, but about 37 more dead letters could not be read now.")
    .waitFor();
});

test("an ended command with a new event is read again until the event is published", async ({
  empty,
}) => {
  const { page } = await openTab();
  await empty.post("/commands", updatePolicy("ended-1"));
  await expect
    .poll(() => empty.get("/commands/ended-1").catch(() => undefined))
    .toMatchObject({ events: [{ state: "published" }, { state: "published" }] });
  await page.goto(empty.pageUrl);
  await visit(page, commandHash("ended-1"));
  await sleep(300);
  const state = (await empty.get("/commands/ended-1")) as { events: readonly object[] };
  const waiting = state.events.map((event) => ({ ...event, state: "waiting" }));
  await answering(page, /\/commands\/ended-1/, (_, nth) =>
    nth <= 2 ? { ...state, events: waiting } : state,
  );

  await empty.post("/events", { source: "test", "detail-type": "News", detail: {} });

  const text = page.getByText("waits to be published");
  await text.first().waitFor();
  await expect.poll(() => text.count()).toBe(0);
});
