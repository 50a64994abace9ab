import { expect } from "vitest";
import * as z from "zod";
import { HOSTILE_CALL, openTab, overflow } from "./tab.ts";
import { expectSound, visit } from "./visit.ts";
import { test } from "./worlds.ts";

const POLICY = "--project-id 1234567 \\\n    --region-id 76 \\\n    --policy-id 1";
const HOSTILE = `'"><img src=x onerror="${HOSTILE_CALL}">$(${HOSTILE_CALL})\`${HOSTILE_CALL}\``;

const stateSchema = z.object({
  status: z.string(),
  outcome: z.string().optional(),
  dryRun: z.boolean().optional(),
});

const listSchema = z.object({ rows: z.array(z.object({ id: z.string(), status: z.string() })) });

test("a form is checked while the user types, tried by a dry run, and sent", async ({ empty }) => {
  const { page, troubles } = await openTab();
  await page.goto(empty.pageUrl);
  await visit(page, "#/send");
  await page.getByLabel("operation").selectOption("update-policy");
  const line = page.getByRole("region", { name: "Command line" }).locator("pre.line");
  await line.waitFor();
  expect(await page.getByText("required", { exact: true }).count()).toBe(3);

  await page.getByLabel("project_id").fill("1234567");
  await page.getByLabel("region_id").fill("76");
  await page.getByLabel("policy_id").fill("one");
  await page.getByLabel("policy_id").blur();
  await page.getByLabel("status").selectOption("paused");
  await expect.poll(() => page.locator(".problem").allInnerTexts()).toContain("a number");
  expect(await page.getByLabel("policy_id").getAttribute("aria-invalid")).toBe("true");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("alert").getByText("params.policy_id").waitFor();
  await expectSound(page, "send-refused");
  expect(listSchema.parse(await empty.get("/commands")).rows).toEqual([]);

  await page.getByLabel("policy_id").fill("1");
  await expect.poll(() => page.getByRole("alert").innerText()).toBe("");
  expect(await line.innerText()).toBe(
    `npx skyhook send update-policy \\\n    ${POLICY} \\\n    --status paused \\\n    --endpoint ${new URL(empty.pageUrl).origin}`,
  );

  await page.getByRole("button", { name: "Dry run" }).click();
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText("nothing was sent to the provider").waitFor();
  expect(await result.locator("pre").innerText()).toContain('"status": "paused"');
  const dry = await result.getByRole("link").innerText();

  await page.getByRole("button", { name: "Send", exact: true }).click();
  await result.getByText("succeeded").waitFor();
  await expect.poll(() => result.getByRole("link").innerText()).not.toBe(dry);
  const sent = await result.getByRole("link").innerText();
  expect(stateSchema.parse(await empty.get(`/commands/${dry}`))).toEqual({
    status: "succeeded",
    outcome: "dry-run",
    dryRun: true,
  });
  expect(stateSchema.parse(await empty.get(`/commands/${sent}`))).toEqual({
    status: "succeeded",
    outcome: "done",
  });

  await page.getByRole("link", { name: sent }).click();
  await page.getByRole("link", { name: "Send again" }).click();
  await page.getByText("The end of that command erased its query and body").waitFor();
  expect(await page.getByLabel("policy_id").inputValue()).toBe("1");
  expect(troubles).toEqual([]);
});

test("a 64-bit limit reaches the provider exactly", async ({ demo }) => {
  const { page, troubles } = await openTab();
  await page.goto(demo.pageUrl);
  await visit(page, "#/send/create-storage-event");
  await page.getByLabel("name required").selectOption("reaching_used_traffic");
  await page.getByLabel("bucket_name").fill("exact");
  await page.getByLabel("bytes").fill("18446744073709551615");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("region", { name: "Result" }).getByText("succeeded").waitFor();

  await visit(page, "#/provider/state/storage_events");
  const row = page.getByRole("row").filter({ hasText: '"bucket_name": "exact"' });
  await row.getByText("fields").click();
  expect(await row.locator("pre").innerText()).toContain('"bytes": "18446744073709551615"');
  expect(troubles).toEqual([]);
});

test("lists, maps and nested objects of a form become the request", async ({ demo }) => {
  const { page, troubles } = await openTab(390);
  await page.goto(demo.pageUrl);
  await visit(page, "#/send/update-container");
  await page.getByRole("button", { name: "Fill in the example" }).click();
  await page.getByRole("button", { name: "Add envs" }).click();
  await page.getByLabel("envs name 1").fill("TOKEN");
  await page.getByLabel("envs value 1").fill("hush-in-a-form");
  await page.getByLabel("body.commands: null").check();
  const line = page.getByRole("region", { name: "Command line" });
  await line.getByText("--data @request.json").waitFor();
  expect(await line.innerText()).not.toContain("hush");
  await page.getByRole("button", { name: "Dry run" }).click();
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText("nothing was sent to the provider").waitFor();
  const wouldSend = await result.locator("pre").innerText();
  expect(wouldSend).toContain('"cooldown_period": 60');
  expect(wouldSend).toContain('"envs": "[redacted]"');
  expect(wouldSend).toContain('"commands": null');
  expect(await page.content()).not.toContain("hush-in-a-form");
  await expectSound(page, "send-dry-run");
  expect(troubles).toEqual([]);
});

test("hostile text in every field is text", async ({ demo }) => {
  const { page, troubles } = await openTab(390);
  await page.goto(demo.pageUrl);
  for (const operation of ["update-container", "update-pool", "create-router", "follow-task"]) {
    await visit(page, `#/send/${operation}`);
    await page.getByText("Deadline, conditions and id").click();
    for (const name of ["Add after", "Add guards"]) {
      await page.getByRole("button", { name, exact: true }).click();
    }
    // Each opened group may hold further ones.
    for (let opened = 0; opened < 20; opened++) {
      const more = page.locator("form button").filter({ hasText: /^Add (?!an entry)/ });
      if ((await more.count()) === 0) break;
      await more.first().click();
    }
    for (const input of await page.locator("form input:not([type=checkbox])").all()) {
      await input.fill(HOSTILE);
    }
    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByRole("alert").getByText("Not sent").waitFor();
    expect(await overflow(page), operation).toBe(0);
  }
  await visit(page, `#/send/${encodeURIComponent(HOSTILE)}?from=${encodeURIComponent(HOSTILE)}`);
  await page.getByText("There is no such operation").waitFor();
  expect(troubles).toEqual([]);
});
