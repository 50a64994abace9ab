import { expect } from "vitest";
import { LOCAL_SENDER } from "../../lib/local/local-sender.ts";
import { commandOf } from "../support/commands.ts";
import { seedCommands } from "../support/seeded-commands.ts";
import { startRun, temporaryFolder } from "./console-run.ts";
import { openTab } from "./tab.ts";
import { expectSound, visit } from "./visit.ts";
import { commandHash, test, WAITING } from "./worlds.ts";

test("Cancel asks first, and then cancels the command in the ledger", async ({ busy }) => {
  const { page, troubles } = await openTab();
  await page.goto(busy.pageUrl);
  await visit(page, commandHash(WAITING));
  const ask = page.getByRole("button", { name: "Cancel …" });
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
  await page.locator("dd .badge").getByText("cancelled", { exact: true }).waitFor();
  expect(await busy.get(`/commands/${WAITING}`)).toMatchObject({ status: "cancelled" });
  await ask.waitFor({ state: "hidden" });
  expect(troubles).toEqual([]);
});

test("Resolve records the operator's answer with its note", async () => {
  const data = await temporaryFolder();
  const at = Date.now();
  const { request: _, ...ended } = commandOf({
    id: "unclear",
    sender: LOCAL_SENDER,
    acceptedAt: at,
    state: { status: "failed", reason: "unknown-outcome", endedAt: at, settled: true, tasks: [] },
  });
  await seedCommands(data, [ended]);
  const run = await startRun(["--no-demo", "--data", data]);
  const { page, troubles } = await openTab();
  await page.goto(run.pageUrl);
  await visit(page, commandHash("unclear"));

  await page.getByRole("button", { name: "Resolve …" }).click();
  const dialog = page.getByRole("dialog");
  await expectSound(page, "dialog-resolve");
  await dialog.getByLabel("Yes, it took effect").check();
  await dialog.getByLabel("Note").fill("seen at the provider");
  await dialog.getByRole("button", { name: "Record" }).click();

  await page.getByText("Resolved.").waitFor();
  expect(await run.get("/commands/unclear")).toMatchObject({
    resolution: { applied: true, note: "seen at the provider" },
  });
  expect(troubles).toEqual([]);
});
