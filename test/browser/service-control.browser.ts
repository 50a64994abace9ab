import { expect } from "vitest";
import * as z from "zod";
import { startRun } from "./console-run.ts";
import { openTab } from "./tab.ts";
import { expectSound, visit } from "./visit.ts";
import { test } from "./worlds.ts";

const listSchema = z.object({
  rows: z.array(z.object({ id: z.string(), status: z.string(), reason: z.string().optional() })),
});

test("an unknown outcome is made, seen and resolved by hand", async () => {
  const run = await startRun(["--no-demo"]);
  const { page, troubles } = await openTab();
  await page.goto(run.pageUrl);
  await visit(page, "#/provider/faults");
  await page.getByText("No fault.").waitFor();
  await expectSound(page, "provider-faults-empty");

  await page.getByLabel("operation").selectOption("update-policy");
  await page.getByLabel("kind of fault").selectOption("lost-reply-after");
  await page.getByLabel("how often").selectOption("every request");
  await page.getByRole("button", { name: "Add the fault" }).click();
  const rule = page.getByRole("row").filter({ hasText: "update-policy=lost-reply-after" });
  await rule.waitFor();
  expect(await rule.innerText()).toContain("0 requests");

  await page.getByText("Make an unknown outcome in one minute").click();
  await expectSound(page, "provider-faults");
  await page.getByRole("link", { name: "Send", exact: true }).last().click();
  await page.getByRole("button", { name: "Fill in the example" }).click();
  await page.getByLabel("status").selectOption("paused");
  await page.getByText("Deadline, conditions and id").click();
  await page.getByLabel("deadline").fill("5s");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText("unknown-outcome").first().waitFor();

  await visit(page, "#/provider/faults");
  expect(await rule.innerText()).toMatch(/[1-9]\d* requests?/);
  await visit(page, "#/provider/state/lifecycle_policies");
  const policy = page.getByRole("row").filter({ hasText: "schedule_1" });
  await policy.getByText("fields").click();
  expect(await policy.locator("pre").innerText()).toContain('"status": "paused"');

  const [sent] = listSchema.parse(await run.get("/commands")).rows;
  expect(sent).toMatchObject({ status: "failed", reason: "unknown-outcome" });
  await visit(page, "#/commands");
  await page.getByRole("link", { name: sent?.id ?? "" }).click();
  await page.getByRole("button", { name: "Resolve …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Yes, it took effect").check();
  await dialog.getByLabel("Note").fill("the policy is paused");
  await dialog.getByRole("button", { name: "Record" }).click();
  await page.getByText("Resolved.").waitFor();
  expect(await run.get(`/commands/${sent?.id}`)).toMatchObject({
    resolution: { applied: true, note: "the policy is paused" },
  });

  await visit(page, "#/provider/faults");
  await page.getByRole("button", { name: /^Remove update-policy=lost-reply-after/ }).click();
  await page.getByText("No fault.").waitFor();
  expect(troubles).toEqual([]);
});

test("a wrong rule is refused with what to write, and a form works by keyboard", async ({
  empty,
}) => {
  const { page, troubles } = await openTab();
  await page.goto(empty.pageUrl);
  await visit(page, "#/provider/faults");
  await page.getByLabel("kind of fault").selectOption("slow");
  await page.getByRole("button", { name: "Add the fault" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("delay: required: a duration such as 2s").waitFor();

  await page.getByLabel("details").focus();
  await page.keyboard.type("delay=10ms");
  await page.keyboard.press("Enter");
  const rule = page.getByRole("row").filter({ hasText: "update-policy=slow" });
  await rule.waitFor();
  await rule.getByRole("button").focus();
  await page.keyboard.press("Enter");
  await page.getByText("No fault.").waitFor();
  expect(troubles).toEqual([]);
});

test("advancing the clock of the service ends a task that would take an hour", async ({ busy }) => {
  const { page, troubles } = await openTab();
  await page.goto(busy.pageUrl);
  await visit(page, "#/provider/clock");
  await page.getByRole("button", { name: "Freeze" }).click();
  await page.getByText("frozen", { exact: true }).waitFor();
  await expectSound(page, "provider-clock");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByLabel("advance by").fill("2h");
  await page.keyboard.press("Enter");
  await page.getByText("ahead of the clock of this machine").waitFor();

  await visit(page, "#/provider/tasks");
  const task = page.getByRole("row").filter({ hasText: "create_router" }).first();
  await expect.poll(() => task.innerText()).toContain("FINISHED");
  expect(troubles).toEqual([]);
});

test("a read-only console shows faults and clock, and offers no change", async ({ empty }) => {
  const { page, troubles } = await openTab();
  await page.route("**/session", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ json: { ...(await answer.json()), allowsChanges: false } });
  });
  await page.goto(empty.pageUrl);
  await visit(page, "#/provider/faults");
  await page.getByText("No fault.").waitFor();
  expect(await page.locator("main").getByRole("button").count()).toBe(0);
  await visit(page, "#/provider/clock");
  await page.getByText("time of the service").waitFor();
  expect(await page.locator("main").getByRole("button").count()).toBe(0);
  expect(troubles).toEqual([]);
});
