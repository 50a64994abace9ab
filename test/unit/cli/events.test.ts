import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { StreamItem } from "../../../lib/admin/event-stream.ts";
import { followEvents } from "../../../lib/cli/commands/events.ts";
import { EXIT, ExitError } from "../../../lib/cli/exit-code.ts";
import { commandKey, commands } from "../../../lib/engine/command.ts";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import { commandOf } from "../../support/commands.ts";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook, type SkyhookProcess, startSkyhook } from "../../support/skyhook-process.ts";
import { openTableServer } from "../../support/table-server.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const eventItem = (id: string): StreamItem => ({
  kind: "event",
  cursor: `at-${id}`,
  event: { type: "Something", id, time: "2026-01-01T00:00:00Z" },
});

const lost = new ExitError(EXIT.unreachable, "nothing answers");

/** Follows connections in order; each yields its items, and an error ends it. */
const following = async (...connections: readonly (readonly (StreamItem | ExitError)[])[]) => {
  const out: string[] = [];
  const err: string[] = [];
  for (const [stream, lines] of [
    [process.stdout, out],
    [process.stderr, err],
  ] as const) {
    vi.spyOn(stream, "write").mockImplementation((line, ...rest: unknown[]) => {
      lines.push(String(line).trim());
      for (const done of rest) if (typeof done === "function") done();
      return true;
    });
  }
  const stopping = new AbortController();
  const asked: (string | undefined)[] = [];
  const open = async () =>
    async function* ({ after }: { readonly after?: string | undefined }) {
      asked.push(after);
      const items = connections[asked.length - 1];
      if (asked.length === connections.length) stopping.abort();
      for (const item of items ?? []) {
        if (item instanceof ExitError) throw item;
        yield item;
      }
    };
  const clock = { now: () => 0, sleep: async () => {} };
  await followEvents(open, { recent: "0", json: true }, { clock, signal: stopping.signal });
  return { ids: out.map((line) => JSON.parse(line).id), notes: err, asked };
};

describe("following events", () => {
  it("continues behind the last event after a lost connection", async () => {
    const { ids, notes, asked } = await following(
      [eventItem("a"), lost],
      [lost],
      [{ kind: "idle" }, eventItem("b")],
    );

    expect(ids).toEqual(["a", "b"]);
    expect(asked).toEqual([undefined, "at-a", "at-a"]);
    expect(notes).toEqual(["connection lost, tries again: nothing answers", "connected again"]);
  });

  it("continues behind the last sign of life without events, and prints a repeated event once", async () => {
    const { ids, asked } = await following(
      [eventItem("a"), { kind: "idle", cursor: "quiet" }, lost],
      [eventItem("a"), eventItem("b")],
    );

    expect(asked).toEqual([undefined, "quiet"]);
    expect(ids).toEqual(["a", "b"]);
  });

  it("reports missed events", async () => {
    const { notes } = await following([{ kind: "gap", missed: 3 }, { kind: "gap" }]);

    expect(notes).toEqual(["3 events were missed", "events may have been missed"]);
  });

  it("ends with the error of its first connection", async () => {
    await expect(following([lost])).rejects.toBe(lost);
  });
});

describe("skyhook events", () => {
  let run: SkyhookProcess;
  let environment: Record<string, string>;

  beforeAll(async () => {
    run = startSkyhook(["start", "--no-demo"]);
    await run.printed("What can be sent");
    environment = { SKYHOOK_ENDPOINT: /listens at (\S+)/.exec(run.stderr())?.[1] ?? "none" };
  });

  afterAll(async () => {
    run.child.kill("SIGTERM");
    await run.ended();
  });

  const send = (id: string, of = environment) =>
    runVerb(
      [
        ...["send", "update-policy", "--project-id", "1234567", "--region-id", "76"],
        ...["--policy-id", "1", "--status", "paused", "--id", id, "--wait"],
      ],
      of,
    );

  it("prints events of one command as they come, until Ctrl-C, and those from before", async () => {
    const args = ["events", "--follow", "--command", "wanted", "--json"];
    const watching = startSkyhook(args, environment);
    await send("other");
    await send("wanted");
    await watching.printed("CommandSucceeded");
    watching.child.kill("SIGINT");
    const exitCode = await watching.ended();
    const earlier = await runSkyhook(["events", "--type", "*Accepted"], environment);

    const types = watching
      .stdout()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)["detail-type"]);
    expect(types).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect(exitCode).toBe(0);
    expect(watching.stderr()).toBe("");
    expect(earlier).toMatchObject({ exitCode: 0, stdout: "" });
    const accepted = await runVerb(["events", "--type", "CommandA*"], environment);
    expect(accepted.stdout.trim().split("\n")).toHaveLength(2);
    expect(accepted.stdout).toMatch(/other +accepted update-policy/);
    expect(earlier.stderr).toMatch(/^no event matches; /);
  });

  it("says that it continues with another run, when its own has ended", async () => {
    const state = await mkdtemp(join(tmpdir(), "skyhook-runs-"));
    onTestFinished(() => rm(state, { recursive: true }));
    const own = { XDG_STATE_HOME: state };
    const start = async () => {
      const started = startSkyhook(["start", "--no-demo"], own);
      await started.printed("What can be sent");
      const address = /listens at (\S+)/.exec(started.stderr())?.[1] ?? "none";
      const end = async () => {
        started.child.kill("SIGTERM");
        await started.ended();
      };
      return { address, end };
    };
    const other = await start();
    const followed = await start();
    const watching = startSkyhook(["events", "--follow"], own);
    await send("first", own);
    await watching.printed("first");

    await followed.end();
    await watching.printed("connected again");
    watching.child.kill("SIGINT");

    expect(await watching.ended()).toBe(0);
    await other.end();
    expect(watching.stderr()).toContain(`continues with another Skyhook, at ${other.address}\n`);
  });

  it.each([
    [["--recent", "many"], "--recent: must be a number from 0 to 1000"],
    [["--stage", "test"], "--stage: only with --follow"],
  ])("refuses %j", async (args, text) => {
    const ended = await runVerb(["events", ...args], environment);

    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain(text);
  });
});

describe("skyhook events of a stage", () => {
  it("shows what commands record, and says so", async () => {
    const tableName = "skyhook-test-ledger";
    const table = await openTableServer(tableName);
    const client = new DynamoDBClient(table.clientConfig);
    const ledger = createDynamodbLedger({ client, tableName });
    const watching = startSkyhook(["events", "--follow", "--stage", "test"], table.environment);
    await watching.printed("EventBridge has no live read");
    const acceptedAt = Date.now() + 2_000;
    const command = commandOf({ id: "c1", acceptedAt, deadline: acceptedAt + 1e7 });
    await commands.write(ledger, commandKey(command), undefined, command);
    await watching.printed("CommandAccepted");
    watching.child.kill("SIGINT");

    expect(await watching.ended()).toBe(0);
    expect(watching.stdout()).toMatch(/^\S+Z {2}CommandAccepted {7}own {2}c1\n$/);
    client.destroy();
    await table.close();
  });
});
