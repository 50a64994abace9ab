import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createClient } from "../../../lib/exports/client.ts";
import { type LocalOptions, type LogLine, startLocal } from "../../../lib/exports/local.ts";

const POLICY = { project_id: 1234567, region_id: 76, policy_id: 1 };
const CONTAINER = { project_id: 1234567, region_id: 76, container_name: "my-container" };

const stops: (() => Promise<void>)[] = [];
const start = async (options?: LocalOptions) => {
  const skyhook = await startLocal(options);
  stops.push(skyhook.stop);
  return skyhook;
};
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

describe("a local run for tests", () => {
  test("runs a command to the event of its end, with effect at the service", async () => {
    const skyhook = await start();

    const end = await skyhook.run({
      operation: "update-policy",
      params: POLICY,
      body: { status: "paused" },
    });

    expect(end["detail-type"]).toBe("CommandSucceeded");
    const { url: baseUrl, apiKey } = skyhook.service;
    const policy = await createClient({ baseUrl, apiKey }).call("get-policy", { params: POLICY });
    expect(policy.status).toBe("paused");
    expect(skyhook.events.map((event) => event["detail-type"])).toEqual([
      "CommandAccepted",
      "CommandSucceeded",
    ]);
  });

  test("ends a request that breaks a rule with its rejection", async () => {
    const skyhook = await start();

    const end = await skyhook.run({
      operation: "update-policy",
      params: POLICY,
      body: { name: "" },
    });

    expect(end).toMatchObject({
      "detail-type": "CommandRejected",
      detail: { data: { reason: "invalid", problems: [{ path: "body.name" }] } },
    });
  });

  test("turns an event of another AWS account into a command, by accounts and reactions", async () => {
    const skyhook = await start({
      accounts: `
accounts:
  - name: local
    senders: [own, "111122223333"]
aws_accounts:
  - id: "111122223333"
`,
      reactions: `
reactions:
  - name: pause
    when: { source: [billing], detail-type: [Unpaid] }
    then:
      operation: update-policy
      params: { project_id: 1234567, region_id: 76, policy_id: $.detail.policy }
      body: { status: paused }
`,
    });

    const account = "111122223333";
    const detail = { policy: 1 };
    await skyhook.putEvent({ source: "billing", "detail-type": "Unpaid", detail, account });
    const end = await skyhook.waitFor(["CommandSucceeded", "CommandRejected"], {
      where: (event) => event.detail.metadata.sender === account,
    });

    expect(end).toMatchObject({ "detail-type": "CommandSucceeded" });
  });

  test("fails requests of the service as a rule says", async () => {
    const skyhook = await start({
      service: { faults: ["update-policy=lost-reply-after:1x"], taskDurationMs: 0 },
    });

    const end = await skyhook.run({
      operation: "update-policy",
      params: POLICY,
      body: { status: "paused" },
    });

    expect(end.detail.data).toMatchObject({ attempts: 2, lostReplies: 1 });
    expect(skyhook.service.faults.list()).toMatchObject([{ struck: 1 }]);
  });

  test("publishes a price that the controls of the service have changed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "skyhook-watchlist-"));
    const watchlistFile = join(folder, "watchlist.yaml");
    await writeFile(watchlistFile, "items:\n  - name: ddos\n    ddos: { region_id: 76 }\n");
    const skyhook = await start({ watchlistFile, service: { controlToken: "local" } });
    await skyhook.runJob("snapshot-prices");

    const { prices } = await skyhook.service.state.export();
    const list = prices.find(({ region_id }) => region_id === 76);
    const ddos = { ...list?.ddos, price_per_day: 99 };
    const changed = await fetch(`${skyhook.service.url}/_skyhook/prices`, {
      method: "PATCH",
      headers: { authorization: "Bearer local", "content-type": "application/json" },
      body: JSON.stringify({ region_id: 76, ddos }),
    });
    await skyhook.runJob("snapshot-prices");
    const event = await skyhook.waitFor("PriceChanged");

    expect(changed.status).toBe(200);
    expect(event.detail.data).toMatchObject({
      name: "ddos",
      categories: expect.arrayContaining([{ category: "price_per_day", before: "2", after: "99" }]),
    });
    await rm(folder, { recursive: true });
  });

  test("names the types of the events that came when the wanted one did not", async () => {
    const skyhook = await start();
    await skyhook.run({ operation: "update-policy", params: POLICY, body: { status: "paused" } });

    await expect(skyhook.waitFor("PriceChanged", { timeoutMs: 1 })).rejects.toThrow(
      "no PriceChanged within 1 ms; saw 2 events: CommandAccepted, CommandSucceeded",
    );
  });

  test("refuses wrong files with their lines, and a job without its file", async () => {
    await expect(startLocal({ accounts: "accounts:\n  - name: 1\n" })).rejects.toThrow(
      /^accounts: line 2/,
    );
    const skyhook = await start();
    await expect(skyhook.runJob("sync-thresholds")).rejects.toThrow(
      "sync-thresholds is not configured: set thresholdsFile of startLocal",
    );
    await expect(skyhook.putEvent({ source: "", "detail-type": "A", detail: {} })).rejects.toThrow(
      "source: must not be empty",
    );
  });

  test("stops with a waiting caller and an open task, and a second time", async () => {
    const lines: LogLine[] = [];
    const skyhook = await start({
      service: { taskDurationMs: 3_600_000 },
      onLog: (line) => lines.push(line),
    });
    await skyhook.send({
      operation: "update-container",
      params: CONTAINER,
      body: { scale: { min: 1, max: 4 } },
    });
    await skyhook.waitFor("CommandAccepted");
    const waiting = skyhook.waitFor("CommandSucceeded");

    await Promise.all([
      expect(waiting).rejects.toThrow("stopped while waiting for CommandSucceeded"),
      skyhook.stop(),
    ]);
    await skyhook.stop();

    await expect(fetch(skyhook.service.url)).rejects.toThrow();
    expect(lines.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
    expect(lines).not.toEqual([]);
  });
});
