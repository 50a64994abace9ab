import { describe, expect, test } from "vitest";
import { type BulkPage, cancelMatching, previewCancel } from "../../../lib/admin/bulk-cancel.ts";
import { boundedQuerySchema, bulkQuerySchema } from "../../../lib/admin/list-query.ts";
import { cancelCommand } from "../../../lib/admin/operator-actions.ts";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import { recordRejection } from "../../../lib/engine/rejection.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { commandOf } from "../../support/commands.ts";
import { silentLog } from "../../support/logs.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { createRecordingMetrics } from "../../support/recording-metrics.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const UNTIL = new Date(NOW).toISOString();

const ledgerWith = async (all: readonly Partial<Command>[]): Promise<Ledger> => {
  const ledger = createMemoryLedger();
  for (const [index, fields] of all.entries()) {
    const command = commandOf({ acceptedAt: NOW - 1_000 + index, deadline: NOW + 1e6, ...fields });
    await commands.write(ledger, commandKey(command), undefined, command);
  }
  return ledger;
};

const depsOf = (ledger: Ledger) => ({
  ledger,
  clock: { now: () => NOW, sleep: async () => {} },
  log: silentLog,
  metrics: createRecordingMetrics(),
});

const effects = ({ rows }: BulkPage) => rows.map(({ id, cancel }) => `${id} ${cancel.kind}`);

const statusOf = async (ledger: Ledger, id: string) =>
  (await commands.read(ledger, `own/${id}`))?.value.state.status;

const leased: Command["state"] = {
  status: "running",
  lease: { by: "r", until: NOW + 5_000 },
  notBefore: NOW,
  lookAt: NOW + 5_000,
};
const ended: Command["state"] = { status: "succeeded", endedAt: NOW, settled: true, tasks: [] };
const following: Command["state"] = {
  status: "following",
  tasks: [{ id: "t1" }],
  tasksRecorded: true,
};

/** One command of each kind, the newest last. */
const EACH = [
  { id: "accepted" },
  { id: "waits", state: { status: "waiting" } },
  { id: "in-flight", state: leased },
  { id: "follows", state: following },
  { id: "done", state: ended },
  {
    id: "unsure",
    state: { status: "running", notBefore: NOW, lookAt: NOW },
    uncertain: { firstSentAt: NOW, lastSentAt: NOW },
  },
] satisfies readonly Partial<Command>[];

const FORESEEN = [
  "unsure stopped",
  "done ended",
  "follows following",
  "in-flight under-way",
  "waits stopped",
  "accepted stopped",
];

describe("a bulk cancellation", () => {
  test("foresees each outcome, and changes nothing", async () => {
    const ledger = await ledgerWith(EACH);
    const write = ledger.write;
    let writes = 0;
    const watched: Ledger = {
      ...ledger,
      write: (item) => {
        writes += 1;
        return write(item);
      },
    };

    const page = await previewCancel(
      depsOf(watched),
      bulkQuerySchema().parse({ account: "local", since: "2026-11-22T00:00:00Z" }),
    );

    expect(effects(page)).toEqual(FORESEEN);
    expect(page.rows[0]?.cancel).toMatchObject({ status: "failed", reason: "unknown-outcome" });
    expect(page).toMatchObject({ until: UNTIL });
    expect(page).not.toHaveProperty("cursor");
    expect(writes).toBe(0);
  });

  test("does what its preview foresaw", async () => {
    const ledger = await ledgerWith(EACH);
    const deps = depsOf(ledger);
    const query = boundedQuerySchema().parse({ account: "local", until: UNTIL });

    const page = await cancelMatching(deps, query, (key) => cancelCommand(deps, key));

    expect(effects(page)).toEqual(FORESEEN);
    expect(await statusOf(ledger, "waits")).toBe("cancelled");
    expect(await statusOf(ledger, "unsure")).toBe("failed");
    expect(await statusOf(ledger, "follows")).toBe("following");
    expect(await statusOf(ledger, "in-flight")).toBe("running");
  });

  test("leaves a command alone that was accepted after the preview began", async () => {
    const ledger = await ledgerWith([{ id: "old" }, { id: "late", acceptedAt: NOW + 1 }]);
    const deps = depsOf(ledger);
    const query = boundedQuerySchema().parse({ account: "local", until: UNTIL });

    const page = await cancelMatching(deps, query, (key) => cancelCommand(deps, key));

    expect(effects(page)).toEqual(["old stopped"]);
    expect(await statusOf(ledger, "late")).toBe("accepted");
  });

  test("works through a lane one by one, the newest first, so that no lane is handed on", async () => {
    const ids = Array.from({ length: 30 }, (_, index) => `c${index}`);
    const ledger = await ledgerWith(
      ids.map((id, index) => ({ id, lane: `local/container/${index % 3}` })),
    );
    const deps = depsOf(ledger);
    const order: string[] = [];
    let open = 0;
    let most = 0;
    const query = boundedQuerySchema().parse({ account: "local", until: UNTIL });

    await cancelMatching(deps, query, async (key) => {
      open += 1;
      most = Math.max(most, open);
      const answer = await cancelCommand(deps, key);
      order.push(key);
      open -= 1;
      return answer;
    });

    for (const lane of [0, 1, 2]) {
      const own = order.filter((key) => Number(key.slice("own/c".length)) % 3 === lane);
      const newestFirst = ids.filter((_, index) => index % 3 === lane).toReversed();
      expect(own).toEqual(newestFirst.map((id) => `own/${id}`));
    }
    expect(most).toBe(3);
  });

  test("goes through all pages, at most eight commands at once", async () => {
    const ids = Array.from({ length: 250 }, (_, index) => `c${index}`);
    const ledger = await ledgerWith(ids.map((id) => ({ id, lane: `local/container/${id}` })));
    const deps = depsOf(ledger);
    let open = 0;
    let most = 0;
    let cursor: string | undefined;
    const done: string[] = [];
    do {
      const query = boundedQuerySchema().parse({
        ...{ account: "local", until: UNTIL },
        ...(cursor !== undefined && { cursor }),
      });
      const page = await cancelMatching(deps, query, async (key) => {
        open += 1;
        most = Math.max(most, open);
        const answer = await cancelCommand(deps, key);
        open -= 1;
        return answer;
      });
      done.push(...effects(page));
      cursor = page.cursor;
    } while (cursor !== undefined);

    expect(done.toSorted()).toEqual(ids.map((id) => `${id} stopped`).toSorted());
    expect(most).toBe(8);
  });

  test("reports a failure of the ledger for its command, and continues with the others", async () => {
    const ledger = await ledgerWith([{ id: "a" }, { id: "b" }]);
    const deps = depsOf(ledger);
    const query = boundedQuerySchema().parse({ account: "local", until: UNTIL });

    const page = await cancelMatching(deps, query, (key) =>
      key === "own/b" ? Promise.reject(new TypeError("throttled")) : cancelCommand(deps, key),
    );

    expect(effects(page)).toEqual(["b error", "a stopped"]);
    expect(page.rows[0]?.cancel).toEqual({ kind: "error", why: "TypeError" });
  });

  test("shows a rejected request as none that can be cancelled", async () => {
    const ledger = await ledgerWith([]);
    await recordRejection(ledger, "own", {
      ...{ eventId: "e1", commandId: "c1", operation: "update-policy", reason: "invalid" },
      ...{ problems: [], problemCount: 0, digest: "d", rejectedAt: NOW - 1_000 },
    });

    const page = await previewCancel(depsOf(ledger), bulkQuerySchema().parse({ sender: "own" }));

    expect(effects(page)).toEqual(["c1 rejected"]);
  });

  test.each([{}, { until: UNTIL }])("refuses %j, which selects every command", (query) => {
    expect(bulkQuerySchema().safeParse(query).error?.issues).toMatchObject([
      { message: "needs at least one of account, operation, sender, resource, status, since" },
    ]);
  });

  test("refuses to change anything without a bound", () => {
    expect(boundedQuerySchema().safeParse({ account: "local" }).error?.issues).toMatchObject([
      { path: ["until"], message: "needs the until of the preview" },
    ]);
  });
});
