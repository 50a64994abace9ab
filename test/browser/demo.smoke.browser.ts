import { expect, test } from "vitest";
import * as z from "zod";
import { DEMO_COMMANDS } from "../../lib/cli/demo/commands.ts";
import { startRun } from "./console-run.ts";
import { openTab } from "./tab.ts";

/** The oldest first. */
const eventsSchema = z.array(z.object({ type: z.string() }));

test("the page shows the demo live, from its first command to its last event", async () => {
  const run = await startRun([]);
  const { page, troubles } = await openTab();
  await page.goto(run.pageUrl);

  for (const { id, operation, expected } of DEMO_COMMANDS) {
    const row = page
      .getByRole("row")
      .filter({ has: page.getByRole("link", { name: id, exact: true }) });
    const [status = "", detail = ""] = expected.split(": ");
    await expect.poll(() => row.innerText()).toContain(status);
    const text = await row.innerText();
    expect(text).toContain(operation);
    if (status !== "succeeded") expect(text).toContain(detail);
  }
  await run.printed("steps of the demo ended as expected");
  const events = await page.context().newPage();
  await events.goto(new URL("/#/events", page.url()).href);
  const types = events.locator("main tbody tr td:nth-child(2)");
  const published = async (): Promise<readonly string[]> =>
    eventsSchema.parse(await run.get("/events?recent=200")).map(({ type }) => type);
  await expect
    .poll(async () => (await types.allInnerTexts()).toReversed())
    .toEqual(await published());

  expect(new URL(page.url()).search).toBe("");
  expect(troubles).toEqual([]);
});
