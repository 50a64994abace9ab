import { describe, expect, test } from "vitest";
import { buryIn } from "../support/bury.ts";
import { updatePolicy } from "../support/requests.ts";
import { startRun, temporaryFolder } from "./console-run.ts";
import { openTab } from "./tab.ts";
import { expectSound, visit } from "./visit.ts";

/** A run with two dead letters: a valid command, and a message that is no JSON. */
const openPage = async () => {
  const data = await temporaryFolder();
  await buryIn(data, [JSON.stringify(updatePolicy("buried")), "{"]);
  const run = await startRun(["--no-demo", "--data", data]);
  const tab = await openTab();
  await tab.page.goto(run.pageUrl);
  await visit(tab.page, "#/dead-letters");
  return { ...tab, run };
};

describe("the page of dead letters", () => {
  test("explains each, and redrives the selected one", async () => {
    const { page, troubles, run } = await openPage();
    await page.getByRole("cell", { name: "runnable" }).waitFor();
    await expectSound(page, "dead-letters-two");
    await page
      .getByRole("row", { name: /buried/ })
      .getByRole("checkbox")
      .check();
    await page.getByRole("button", { name: "Redrive 1 …" }).click();
    await expectSound(page, "dead-letters-dialog");
    await page.getByRole("button", { name: "Redrive", exact: true }).click();

    await page.getByRole("cell", { name: "sent back" }).waitFor();
    await expect
      .poll(() => run.get("/commands/buried").catch(() => undefined))
      .toMatchObject({ status: "succeeded" });
    expect(troubles).toEqual([]);
  });

  test("previews a deletion of many, and deletes only what loses nothing", async () => {
    const { page, troubles, run } = await openPage();
    await page.getByText("Redrive or delete many").click();
    await page.getByLabel("action").selectOption("delete");
    await page.getByLabel("queue").selectOption("commands");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("1 of 2 would change").waitFor();
    await expectSound(page, "dead-letters-preview");
    expect(await run.get("/dead-letters")).toMatchObject({ deadLetters: [{}, {}] });
    await page.getByRole("button", { name: "Delete 1", exact: true }).click();

    await page.getByRole("cell", { name: /deleted$/ }).waitFor();
    await expect
      .poll(() => run.get("/dead-letters"))
      .toMatchObject({ deadLetters: [{ diagnosis: "runnable" }] });
    expect(troubles).toEqual([]);
  });
});
