import { expect, test } from "vitest";
import { startRun, temporaryFolder } from "./console-run.ts";
import { openTab } from "./tab.ts";

const POLICY = { project_id: 1234567, region_id: 76, policy_id: 1 };

const updatePolicy = (commandId: string) => ({
  metadata: { commandId },
  data: { operation: "update-policy", params: POLICY, body: { status: "active" } },
});

test("an open page says that the connection is lost, and goes on after a restart", async () => {
  const data = await temporaryFolder();
  const first = await startRun(["--no-demo", "--data", data]);
  await first.post("/commands", updatePolicy("before"));
  const { page, troubles } = await openTab();
  await page.goto(first.pageUrl);
  await page.getByRole("link", { name: "before", exact: true }).waitFor();
  const lost = page.getByRole("status").filter({ hasText: "Connection lost" });
  expect(await lost.count()).toBe(0);

  await first.stop();

  await lost.waitFor();
  // What the page has read stays readable.
  expect(await page.getByRole("link", { name: "before", exact: true }).count()).toBe(1);

  const again = await startRun(["--no-demo", "--data", data, "--port", String(first.port)]);
  await again.post("/commands", updatePolicy("after"));

  await page.getByRole("link", { name: "after", exact: true }).waitFor();
  await expect.poll(() => lost.count()).toBe(0);
  expect(troubles).toEqual([]);
});

test("a page asks for the new address after another run has replaced its run", async () => {
  const first = await startRun(["--no-demo"]);
  const { page } = await openTab();
  await page.goto(first.pageUrl);
  await page.getByRole("heading", { name: "Commands" }).waitFor();
  await first.stop();

  const other = await startRun(["--no-demo", "--port", String(first.port)]);

  await page.getByText("token is not valid any more").waitFor();
  await page.goto(other.pageUrl);
  await page.getByRole("heading", { name: "Commands" }).waitFor();
});
