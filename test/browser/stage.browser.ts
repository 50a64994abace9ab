import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { commandKey, commands } from "../../lib/engine/command.ts";
import { commandOf } from "../support/commands.ts";
import { openStageAws, STAGE_ACCOUNT, type StageAws } from "../support/stage-aws.ts";
import { openTab } from "./tab.ts";
import { expectSound, visit } from "./visit.ts";

let aws: StageAws;

const write = async (id: string): Promise<void> => {
  const acceptedAt = Date.now() - 60_000;
  const state = { status: "waiting" as const };
  const command = commandOf({
    ...{ sender: STAGE_ACCOUNT, id, acceptedAt, deadline: Date.UTC(2100, 0, 1), state },
  });
  await commands.write(aws.ledger, commandKey(command), undefined, command);
};

const openPage = async (...flags: readonly string[]) => {
  const console = await aws.startConsole(...flags);
  onTestFinished(async () => void (await console.stop()));
  const { page, troubles } = await openTab();
  await page.goto(console.pageUrl);
  return { page, troubles };
};

const COMMAND = `#/commands/${STAGE_ACCOUNT}/waits`;

beforeAll(async () => {
  aws = await openStageAws();
  await write("waits");
  await write("unwanted");
});
afterAll(() => aws.close());

describe("the console of a deployed stage", () => {
  test("is read-only, says why, and states its read units", async () => {
    const { page, troubles } = await openPage();

    await visit(page, "#/commands");
    await page.getByRole("link", { name: "waits", exact: true }).waitFor();
    const footer = page.locator("main > footer");
    expect(await footer.innerText()).toMatch(
      /^Read-only: to change anything, start the console with --allow-changes\. .* [\d.,]+ read units\.$/s,
    );
    await expectSound(page, "stage-commands");
    await visit(page, COMMAND);
    expect(await page.getByRole("button", { name: /cancel/i }).count()).toBe(0);
    await expectSound(page, "stage-command");
    expect(await page.getByRole("link", { name: "Provider" }).count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  test("cancels a command with --allow-changes", async () => {
    const { page } = await openPage("--allow-changes");

    await visit(page, `#/commands/${STAGE_ACCOUNT}/unwanted`);
    await page.getByRole("button", { name: "Cancel …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the command" }).click();

    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await page.locator("main .badge", { hasText: "cancelled" }).first().waitFor();
    const { value } = (await commands.read(aws.ledger, `${STAGE_ACCOUNT}/unwanted`)) ?? {};
    expect(value?.state.status).toBe("cancelled");
  });
});
