import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import * as z from "zod";
import { LOCAL_SENDER } from "../../lib/local/local-sender.ts";
import { updateContainer, updatePolicy } from "../support/requests.ts";
import { type ConsoleRun, startRun } from "./console-run.ts";
import { openTab } from "./tab.ts";
import { visit } from "./visit.ts";

const SECRET = "a-secret-value-of-the-test";

const stateSchema = z.looseObject({ status: z.string() });

const statusOf = async (run: ConsoleRun, id: string): Promise<string> =>
  stateSchema.parse(await run.get(`/commands/${id}`)).status;

/** A run in which `holder` holds a lane for an hour, and the others wait behind it. */
const startLane = async (waiting: readonly string[]) => {
  const run = await startRun(["--no-demo", "--task-seconds", "3600"]);
  await run.post("/commands", updateContainer("holder", { envs: { TOKEN: SECRET } }));
  for (const id of waiting) await run.post("/commands", updateContainer(id));
  await expect.poll(async () => run.get("/open")).toMatchObject({ commands: waiting.length + 1 });
  return run;
};

const openAt = async (run: ConsoleRun, hash: string) => {
  const tab = await openTab();
  await tab.page.goto(run.pageUrl);
  await visit(tab.page, hash);
  return tab;
};

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

test("cancels all commands that match the filters, and no others", async () => {
  const run = await startLane(["c1", "c2"]);
  await run.post("/commands", updatePolicy("ended"));
  const { page, troubles } = await openAt(run, "#/commands?status=waiting");

  await button(page, "Cancel matching …").click();
  await button(page, "Cancel 2 commands").click();

  await page.getByText("Done.").waitFor();
  const statuses = await Promise.all(
    ["holder", "c1", "c2", "ended"].map((id) => statusOf(run, id)),
  );
  expect(statuses).toEqual(["following", "cancelled", "cancelled", "succeeded"]);
  expect(troubles).toEqual([]);
});

test("reads a task at the provider on request, and shows no secret of its request", async () => {
  const run = await startLane([]);
  const { page, troubles } = await openAt(run, `#/commands/${LOCAL_SENDER}/holder`);

  await button(page, "Read at the provider").click();

  await page.getByText(/^(NEW|RUNNING)$/).waitFor();
  await page.getByText('"envs": "[redacted]"').waitFor();
  expect(await page.content()).not.toContain(SECRET);
  expect(troubles).toEqual([]);
});

test("keeps filters in the address, and leads back to all commands", async () => {
  const run = await startLane(["c1"]);
  const { page, troubles } = await openAt(run, "#/commands");
  const rows = page.locator("main tbody tr");

  await page.getByLabel("status").selectOption("waiting");
  await page.getByText("More filters").click();
  await page.getByLabel("accepted since").fill("2020-01-31T12:00");
  await button(page, "Filter").click();

  await expect.poll(() => rows.count()).toBe(1);
  expect(await page.evaluate("location.hash")).toMatch(
    /^#\/commands\?status=waiting&since=2020-01-31T12%3A00%3A00\.000Z$/,
  );
  await page.reload();
  await expect.poll(() => page.getByLabel("status").inputValue()).toBe("waiting");
  expect(await page.getByLabel("accepted since").inputValue()).toBe("2020-01-31T12:00");
  await page.getByRole("link", { name: "Clear" }).click();
  await expect.poll(() => rows.count()).toBe(2);
  expect(troubles).toEqual([]);
});

test("takes a short link to one of Skyhook's own commands", async () => {
  const run = await startRun(["--no-demo"]);
  await run.post("/commands", updatePolicy("mine"));
  const { page, troubles } = await openAt(run, "#/commands/mine");

  await page.getByRole("heading", { name: "mine", exact: true }).waitFor();
  await page.getByText("update-policy").first().waitFor();
  expect(troubles).toEqual([]);
});

test("shows a new command after its event, before the next regular read", async () => {
  const run = await startLane([]);
  const { page, troubles } = await openTab();
  await page.clock.install();
  const followed = page.waitForRequest((request) => request.url().endsWith("/events/stream"));
  await page.goto(run.pageUrl);
  const rows = page.locator("main tbody tr");
  await followed;
  await expect.poll(() => rows.count()).toBe(1);
  const startedAt = await page.evaluate(() => Date.now());

  await run.post("/commands", updatePolicy("new"));

  // The time of the page passes only here, so that the regular read after 2 s is far away.
  const pass = async (): Promise<number> => {
    await page.clock.runFor(10);
    return rows.count();
  };
  await expect.poll(pass).toBe(2);
  expect((await page.evaluate(() => Date.now())) - startedAt).toBeLessThan(2_000);
  expect(troubles).toEqual([]);
});
