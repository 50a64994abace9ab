import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { commandKey, commands } from "../../lib/engine/command.ts";
import { aiTasks } from "../../lib/jobs/ai-tasks/ai-task.ts";
import { aiWatches } from "../../lib/jobs/ai-tasks/ai-watch.ts";
import { thresholdSyncs } from "../../lib/jobs/thresholds/threshold-sync.ts";
import { commandOf } from "../support/commands.ts";
import { openStageAws, STAGE_ACCOUNT, type StageAws } from "../support/stage-aws.ts";
import { openTab } from "./tab.ts";
import { expectSound, visit } from "./visit.ts";

let aws: StageAws;

const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

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

  test("shows what the scheduled jobs recorded, without their buttons", async () => {
    const at = Date.now() - 60_000;
    const drift = { at, missing: 1, different: 0, unwanted: 0, names: ["reaching_used_space"] };
    const record = { account: "main", run: 2, drifts: [drift], outbox: [] };
    await thresholdSyncs.write(aws.ledger, "main", undefined, record);
    const open = [{ taskId: idOf(1), taskName: "transcription", seenAt: at }];
    await aiWatches.write(aws.ledger, "main", undefined, { open, fullReadAt: at, outbox: [] });
    await aiTasks.change(aws.ledger, `main/${idOf(2)}`, () => ({
      account: "main",
      taskId: idOf(2),
      recordedAt: at,
      state: { kind: "ended", status: "SUCCESS", endedAt: at, isTold: true },
      outbox: [],
    }));
    const { page, troubles } = await openPage();

    await visit(page, "#/thresholds");
    await page.getByText("not known here, 0 wanted").waitFor();
    await page.getByRole("cell", { name: "reaching_used_space" }).waitFor();
    await expectSound(page, "stage-thresholds");
    await visit(page, "#/ai-tasks");
    await page.getByText(idOf(1)).waitFor();
    await page.getByText(idOf(2)).waitFor();
    await expectSound(page, "stage-ai-tasks");
    await visit(page, "#/prices");
    await page.getByText("No prices yet").waitFor();
    await expectSound(page, "stage-prices");
    expect(await page.getByRole("button", { name: /now$/ }).count()).toBe(0);
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
