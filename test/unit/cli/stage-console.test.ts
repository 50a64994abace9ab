import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import {
  PRICE_KINDS,
  PRICE_OUTCOMES,
  priceItemKey,
  priceItems,
  priceNames,
} from "../../../lib/jobs/prices/price.ts";
import { commandOf } from "../../support/commands.ts";
import { jsonHeaders } from "../../support/local-console.ts";
import { STAGE_ACCOUNT as OWN, openStageAws, type StageAws } from "../../support/stage-aws.ts";

const LATER = Date.UTC(2100, 0, 1);

let aws: StageAws;
let stop: () => Promise<unknown>;

const write = (id: string, fields: Partial<Command> = {}) => {
  const command = commandOf({ sender: OWN, id, deadline: LATER, ...fields });
  return commands.write(aws.ledger, commandKey(command), undefined, command);
};

/** Starts the console, and returns how to ask it. */
const startConsole = async (...flags: readonly string[]) => {
  const console = await aws.startConsole(...flags);
  stop = console.stop;
  const url = new URL(console.pageUrl);
  const headers = jsonHeaders(url.searchParams.get("token") ?? "");
  const ask = async (path: string, body?: unknown) => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(`${url.origin}${path}`, { headers, ...sent });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  return { ask, url };
};

beforeAll(async () => {
  aws = await openStageAws();
});
afterEach(async () => {
  expect(await stop()).toBe(0);
});
afterAll(() => aws.close());

const CANCEL = "/commands/c1/cancel";
const UPDATE = {
  operation: "update-policy",
  account: "main",
  params: { project_id: 1, region_id: 2, policy_id: 3 },
  body: { name: "nightly" },
};

describe("the console of a deployed stage", () => {
  it("shows the commands of the ledger, and changes nothing without --allow-changes", async () => {
    await write("c1", { acceptedAt: Date.now() - 1_000, state: { status: "waiting" } });
    const { ask, url } = await startConsole();

    expect(url.hostname).toBe("127.0.0.1");
    expect((await ask("/session")).body).toMatchObject({
      ...{ kind: "stage", name: "test", sender: OWN, allowsChanges: false },
    });
    expect((await ask("/commands")).body.rows).toMatchObject([{ id: "c1", status: "waiting" }]);
    expect((await ask("/commands/c1")).body).toMatchObject({ kind: "command", sender: OWN });
    expect((await ask("/open")).body).toMatchObject({ commands: 1 });
    const changes = [CANCEL, "/commands", "/commands/c1/resolve", "/accounts/main/lift-pause"];
    for (const path of [...changes, "/jobs/snapshot-prices/run", "/dead-letters/redrive"]) {
      expect(await ask(path, { data: UPDATE })).toEqual({
        status: 403,
        body: { error: "this console is read-only; start it again with --allow-changes" },
      });
    }
    expect((await commands.read(aws.ledger, `${OWN}/c1`))?.version).toBe(1);
    expect(aws.put).toEqual([]);
  });

  it("cancels a command with --allow-changes", async () => {
    await write("unwanted");
    const { ask } = await startConsole("--allow-changes");

    const cancelled = await ask("/commands/unwanted/cancel", {});

    expect(cancelled).toMatchObject({ status: 202, body: { kind: "stopped" } });
    expect((await commands.read(aws.ledger, `${OWN}/unwanted`))?.value.state.status).toBe(
      "cancelled",
    );
  });

  it("sends a command by one event with an id, and refuses an invalid one", async () => {
    const { ask } = await startConsole("--allow-changes");

    const sent = await ask("/commands", { metadata: { commandId: "new" }, data: UPDATE });
    const wrong = { metadata: {}, data: { ...UPDATE, params: {} } };
    const invalid = await ask("/commands", wrong);
    const checked = await ask("/commands/check", wrong);

    expect(sent).toMatchObject({ status: 202, body: { commandId: "new" } });
    expect(aws.put).toMatchObject([
      {
        Entries: [
          {
            EventBusName: "skyhook-test-events",
            Source: "skyhook-console",
            DetailType: "CommandRequested",
          },
        ],
      },
    ]);
    const [
      {
        Entries: [entry],
      },
    ] = aws.put as [{ Entries: [{ Detail: string }] }];
    expect(JSON.parse(entry.Detail)).toEqual({
      metadata: { id: sent.body.eventId, commandId: "new" },
      data: UPDATE,
    });
    expect(invalid.status).toBe(400);
    expect(invalid.body.error).toContain("params.policy_id");
    expect(checked.body.problems).toContainEqual({ path: "params.policy_id", rule: "required" });
  });

  it("shows what the jobs of the stage have recorded, and its thresholds file", async () => {
    await priceNames.write(aws.ledger, "main", undefined, { names: ["web"] });
    await priceItems.write(aws.ledger, priceItemKey("main", "web"), undefined, {
      ...{ account: "main", name: "web", kind: PRICE_KINDS[0], fingerprint: "f", outbox: [] },
      lastRun: { bucket: "2026-01-01T00:00:00.000Z", outcome: PRICE_OUTCOMES[0] },
    });
    const { ask } = await startConsole();

    expect((await ask("/prices")).body).toMatchObject([{ name: "web" }]);
    expect((await ask("/thresholds")).body).toMatchObject({
      ...{ account: "main", config: { kind: "valid", source: "s3://bucket/thresholds.yaml" } },
    });
    expect((await ask("/ai-tasks")).body).toMatchObject({ account: "main", open: [] });
  });

  it("explains an AWS error on the page", async () => {
    const { ask } = await startConsole();

    expect(await ask("/dead-letters")).toEqual({
      status: 502,
      body: { error: "AWS refuses the request: no such service" },
    });
  });

  it("follows what commands record", async () => {
    const { ask, url } = await startConsole();
    const { authorization } = jsonHeaders(url.searchParams.get("token") ?? "");
    const reader = new AbortController();
    const { signal } = reader;
    const stream = await fetch(`${url.origin}/events/stream`, {
      headers: { authorization },
      signal,
    });
    const chunks = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const readUntil = async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) text += (await chunks?.read())?.value ?? "";
    };
    await readUntil("event: idle");

    await write("recorded", { acceptedAt: Date.now() });
    await readUntil("recorded");
    reader.abort();

    expect(text).toContain('"type":"CommandAccepted"');
    expect(text).toContain('"commandId":"recorded"');
    expect((await ask("/session")).body.features).toContain("events");
  });

  it("counts the read units that its pages consume", async () => {
    const acceptedAt = Date.now() - 1_000;
    const ids = Array.from({ length: 50 }, (_, index) => `listed-${index}`);
    for (const id of ids) await write(id, { acceptedAt, sender: "111122223333" });
    const { ask } = await startConsole();
    const readUnits = async (): Promise<number> => (await ask("/session")).body.readUnits;
    const unitsOf = async (path: string): Promise<number> => {
      const before = await readUnits();
      await ask(path);
      return (await readUnits()) - before;
    };

    expect(await unitsOf("/session")).toBe(0);
    // A unit for each of the 50 items, and half a unit for each 4 kB of the day's 4 partitions.
    const list = await unitsOf("/commands");
    expect(list).toBeGreaterThanOrEqual(52);
    expect(list).toBeLessThanOrEqual(56);
    const one = await unitsOf("/commands/listed-0?sender=111122223333");
    expect(one).toBeGreaterThanOrEqual(2);
    expect(one).toBeLessThanOrEqual(5);
  });
});
