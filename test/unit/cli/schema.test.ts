import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook } from "../../support/skyhook-process.ts";

const file = (path: string): Promise<string> =>
  readFile(new URL(`../../../schemas/${path}`, import.meta.url), "utf8");

describe("skyhook schema", () => {
  it.concurrent.each([
    [["accounts"], "accounts.schema.json"],
    [["reactions"], "reactions.schema.json"],
    [["thresholds"], "thresholds.schema.json"],
    [["watchlist"], "watchlist.schema.json"],
    [["event"], "event.schema.json"],
    [["event", "CommandFailed"], "events/CommandFailed.schema.json"],
    [["event", "CommandRequested"], "events/CommandRequested.schema.json"],
  ])("%j prints the generated file, byte for byte", async (args, path) => {
    expect(await runVerb(["schema", ...args])).toEqual({
      exitCode: 0,
      stdout: await file(path),
      stderr: "",
    });
  });

  it.concurrent("prints the schema of an event by its name alone", async () => {
    expect(await runSkyhook(["schema", "TaskFailed"])).toEqual({
      exitCode: 0,
      stdout: await file("events/TaskFailed.schema.json"),
      stderr: "",
    });
  });

  it.concurrent.each([
    [["acounts"], "no schema acounts; did you mean accounts?\n"],
    [["zzz"], "no schema zzz; it is one of accounts, reactions, thresholds, watchlist, event\n"],
    [["event", "CommandFailled"], "no event CommandFailled; did you mean CommandFailed?\n"],
    [["event", "pricescaptured"], "no event pricescaptured; did you mean PricesCaptured?\n"],
    [["accounts", "CommandFailed"], "the schema accounts takes no second name\n"],
    [["event", "\u001b[2J"], /^no event \\u001b\[2J; it is one of CommandRequested, /],
  ])("refuses %j, with the nearest name", async (args, text) => {
    const { exitCode, stdout, stderr } = await runVerb(["schema", ...args]);

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(text);
  });
});
