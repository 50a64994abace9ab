import { describe, expect, it } from "vitest";
import { countRecords, listRecords, listTasks } from "../../../lib/service/inspection.ts";
import { builtInState, COLLECTIONS } from "../../../lib/service/state/state.ts";
import { BUILT_IN_KEY_HASHES, startService } from "./harness.ts";

const CONTAINER = "/cloud/v1/caas/1234567/76/containers/my-container";
const SECRET = "canary-secret-value";
const PAGE = { offset: 0, limit: 50 };

describe("the state of the service", () => {
  it("counts the records of every kind", async () => {
    const { service } = await startService();

    const counts = countRecords(await service.inspect());

    const state = builtInState();
    expect(counts).toEqual(COLLECTIONS.map((kind) => ({ kind, count: state[kind].length })));
  });

  it("shows a page of a kind in the order of keys", async () => {
    const { service } = await startService();
    const snapshot = await service.inspect();

    const all = listRecords(snapshot, "instances", PAGE);
    const page = listRecords(snapshot, "instances", { offset: 1, limit: 1 });

    expect(all?.rows).toHaveLength(3);
    expect(page).toEqual({ kind: "instances", count: 3, rows: all?.rows.slice(1, 2) });
    expect(listRecords(snapshot, "nothing", PAGE)).toBeUndefined();
  });

  it("holds no variable, no pull secret and no digest of a key, in any kind", async () => {
    const { service, send } = await startService();
    const body = { envs: { TOKEN: SECRET }, pull_secret: SECRET };
    await send("PATCH", CONTAINER, { body });
    const during = await service.inspect();
    const shownDuring = COLLECTIONS.map((kind) => listRecords(during, kind, PAGE));
    const { tasks } = listTasks(during, 10);

    const text = JSON.stringify([shownDuring, tasks]);

    const hidden = [SECRET, '"plan"', ...BUILT_IN_KEY_HASHES];
    expect(hidden.filter((each) => text.includes(each))).toEqual([]);
  });

  it("redacts the stored variables and the pull secret of a container by name", async () => {
    const { service, runTask } = await startService();
    await runTask("PATCH", CONTAINER, { envs: { TOKEN: SECRET }, pull_secret: SECRET });

    const rows = listRecords(await service.inspect(), "containers", PAGE)?.rows;

    expect(rows).toContainEqual(
      expect.objectContaining({
        name: "my-container",
        envs: { TOKEN: "[redacted]" },
        pull_secret: "[redacted]",
      }),
    );
  });

  it("shows 64-bit limits exactly", async () => {
    const { service, send } = await startService();
    const name = "reaching_used_traffic";
    const sent = { name, bucket_name: "exact", bytes: 18446744073709551615n };
    await send("POST", "/storage/notifications/v1/event", { body: sent });

    const rows = listRecords(await service.inspect(), "storage_events", PAGE)?.rows;

    expect(rows).toContainEqual(
      expect.objectContaining({ bucket_name: "exact", bytes: "18446744073709551615" }),
    );
  });

  it("shows AI tasks as of now", async () => {
    const { service, clock } = await startService();
    await clock.advance(61_000);

    const rows = listRecords(await service.inspect(), "ai_tasks", PAGE)?.rows;

    const task = expect.objectContaining({ status: "PENDING", progress: 40 });
    expect(rows).toContainEqual(task);
    expect(JSON.stringify(rows)).not.toContain("after_seconds");
  });
});

describe("the tasks of the service", () => {
  it("have a state and a progress, and end by themselves", async () => {
    const { service, send, clock } = await startService();
    const { body } = await send("PATCH", CONTAINER, { body: { timeout: 7 } });
    const [id] = body.tasks;
    const look = async () => listTasks(await service.inspect(), 10).tasks[0];

    expect(await look()).toEqual({
      id,
      type: "patch_caas_container",
      state: "NEW",
      createdAt: "2026-01-01T00:00:00.000Z",
      project: 1234567,
      region: 76,
      progress: 0,
      endsAt: "2026-01-01T00:00:10.000Z",
    });
    await clock.advance(5_000);
    expect(await look()).toMatchObject({ state: "RUNNING", progress: 50 });
    await clock.advance(5_000);
    expect(await look()).toMatchObject({
      state: "FINISHED",
      progress: 100,
      finishedAt: "2026-01-01T00:00:10.000Z",
    });
  });

  it("are the newest, with the count of all", async () => {
    const { service, runTask } = await startService();
    await runTask("PATCH", CONTAINER, { timeout: 7 });
    await runTask("PATCH", CONTAINER, { timeout: 8 });

    const { count, tasks } = listTasks(await service.inspect(), 2);

    expect(count).toBe(3);
    expect(tasks.map(({ createdAt }) => createdAt)).toEqual([
      "2026-01-01T00:00:10.000Z",
      "2026-01-01T00:00:00.000Z",
    ]);
  });

  it("have no progress when they never end", async () => {
    const { service } = await startService({
      state: (builtIn) => ({
        ...builtIn,
        tasks: builtIn.tasks.map((task) => ({ ...task, state: "RUNNING", finished_on: null })),
      }),
    });

    expect(listTasks(await service.inspect(), 10).tasks[0]).not.toHaveProperty("progress");
  });
});
