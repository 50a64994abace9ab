import { expect } from "vitest";
import { openTab } from "./tab.ts";
import { expectSound, visit } from "./visit.ts";
import { test } from "./worlds.ts";

const HASHES = [
  ["state", "#/provider/state"],
  ["records", "#/provider/state/containers"],
  ["tasks", "#/provider/tasks"],
  ["requests", "#/provider/requests"],
] as const;

test.for(HASHES)("the part %s fits and is accessible", async ([name, hash], { demo }) => {
  const { page, troubles } = await openTab();
  await page.goto(demo.pageUrl);
  await visit(page, hash);
  await expectSound(page, `provider-${name}`);
  expect(troubles).toEqual([]);
});

test("requests and tasks appear while the page is open", async ({ busy }) => {
  const { page, troubles } = await openTab();
  await page.goto(busy.pageUrl);
  await visit(page, "#/provider/tasks");
  const task = page.getByRole("row").filter({ hasText: "create_router" }).first();
  await expect.poll(() => task.innerText()).toMatch(/NEW|RUNNING/);
  expect(await task.locator("progress").count()).toBe(1);

  await visit(page, "#/provider/requests");
  const rows = page.getByRole("row").filter({ hasText: "update-policy" });
  expect(await rows.count()).toBe(0);
  await busy.post("/commands", {
    metadata: { commandId: "seen-by-the-provider" },
    data: {
      operation: "update-policy",
      params: { project_id: 1234567, region_id: 76, policy_id: 1 },
      body: { status: "active" },
    },
  });
  await rows.first().waitFor();
  expect(await rows.first().innerText()).toContain("PATCH /cloud/v1/lifecycle_policy/1234567/76/1");
  expect(troubles).toEqual([]);
});

test("a record shows its fields without secrets", async ({ demo }) => {
  const { page, troubles } = await openTab();
  await page.goto(demo.pageUrl);
  await visit(page, "#/provider");
  await page.getByRole("link", { name: "containers", exact: true }).click();
  const row = page.getByRole("row").filter({ hasText: "my-nginx" });
  await row.getByText("fields").click();
  const fields = await row.locator("pre").innerText();
  expect(fields).toContain('"LOG_LEVEL": "[redacted]"');
  expect(fields).not.toContain('"info"');
  expect(troubles).toEqual([]);
});
