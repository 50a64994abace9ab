import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type TestContext, test } from "vitest";
import { aiTasksViewSchema } from "../../../lib/admin/ai-tasks-view.ts";
import { thresholdsViewSchema } from "../../../lib/admin/thresholds-view.ts";
import { priceTotalsSchema } from "../../../lib/jobs/prices/totals.ts";
import { openLocalConsole } from "../../support/local-console.ts";
import { openQuietly } from "../local/open-quietly.ts";

const THRESHOLDS =
  "prune: true\nthresholds: [{ name: reaching_used_space, bucket_name: mine, bytes: 1 GiB }]\n";
const WATCHLIST = "items: [{ name: ddos, ddos: { region_id: 76 } }]\n";

/** The console of a local run with all jobs, and a client of it. */
const openJobs = async ({ onTestFinished }: TestContext, isConfigured = true) => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-console-"));
  const thresholdsFile = join(folder, "thresholds.yaml");
  const watchlistFile = join(folder, "watchlist.yaml");
  await writeFile(thresholdsFile, THRESHOLDS);
  await writeFile(watchlistFile, WATCHLIST);
  const jobs = isConfigured ? { thresholdsFile, watchlistFile, aiTasks: "all" as const } : {};
  const automation = await openQuietly({ jobs });
  const { url, headers, close } = await openLocalConsole(automation);
  onTestFinished(async () => {
    await close();
    await automation.stop();
    await rm(folder, { recursive: true });
  });
  const get = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`, { headers });
    return answer.ok ? answer.json() : answer.status;
  };
  const run = (job: string) =>
    fetch(`${url}/jobs/${job}/run`, { method: "POST", headers, body: "{}" });
  return { automation, get, run, thresholdsFile };
};

test("the thresholds of a run are read before and after a sync that the console starts", async (context) => {
  const { automation, get, run, thresholdsFile } = await openJobs(context);
  const before = thresholdsViewSchema.parse(await get("/thresholds"));
  automation.start();

  expect((await run("sync-thresholds")).status).toBe(202);

  expect(before.config).toMatchObject({ kind: "valid", source: thresholdsFile });
  expect(before.rows[0]).toMatchObject({ bucket_name: "mine", action: "create" });
  const after = thresholdsViewSchema.parse(await get("/thresholds"));
  expect(after.rows.map(({ action }) => action)).toEqual(["none"]);
  expect(after.lastSync).toMatchObject({ outcome: "complete" });
});

test("a run without the jobs answers what is not configured", async (context) => {
  const { get } = await openJobs(context, false);

  expect(await get("/thresholds")).toMatchObject({ config: { kind: "not-configured" } });
  expect(await get("/ai-tasks")).toMatchObject({ watch: null, open: [], over: [] });
  expect(await get("/price-totals")).toEqual({ bucket: null, totals: [], leftOut: [] });
});

test("the AI tasks and the totals of a run follow its jobs", async (context) => {
  const { automation, get, run } = await openJobs(context);
  automation.start();
  await run("watch-ai-tasks");
  await run("snapshot-prices");

  expect(aiTasksViewSchema.parse(await get("/ai-tasks")).watch).not.toBeNull();
  const { totals } = priceTotalsSchema.parse(await get("/price-totals"));
  expect(totals).toMatchObject([{ currency: "EUR", per_month: { items: 1 } }]);
});

test("a wrong query of the AI tasks is refused", async (context) => {
  const { get } = await openJobs(context);

  expect(await get("/ai-tasks?limit=0")).toBe(400);
  expect(await get("/ai-tasks?sort=x")).toBe(400);
  expect(await get("/ai-tasks?cursor=x")).toBe(400);
});
