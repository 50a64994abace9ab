import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readReactions } from "../../../lib/intake/config-files.ts";
import { readWatchlist } from "../../../lib/jobs/prices/watchlist.ts";
import { readThresholdConfig } from "../../../lib/jobs/thresholds/config.ts";
import { readDeployedAccounts } from "../../../lib/provider/accounts-file.ts";
import { runSkyhook } from "../../support/skyhook-process.ts";

const NAMES = ["accounts.yaml", "reactions.yaml", "thresholds.yaml", "watchlist.yaml"];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skyhook-init-"));
});
afterEach(() => rm(folder, { recursive: true }));

const runHere = (...args: readonly string[]) => runSkyhook(args, {}, "", ["env", "-C", folder]);
const textOf = (name: string): Promise<string> => readFile(join(folder, name), "utf8");

describe("skyhook init", () => {
  test("writes files that their own readers accept", async () => {
    const { exitCode, stdout } = await runHere("init");

    expect(exitCode).toBe(0);
    expect(stdout.match(/^wrote +\S+/gm)?.map((line) => line.split(/ +/)[1])).toEqual(NAMES);
    expect((await readdir(folder)).toSorted()).toEqual(NAMES);
    const accounts = readDeployedAccounts(await textOf("accounts.yaml"));
    expect(accounts.kind).toBe("valid");
    const context = {
      accounts: accounts.kind === "valid" ? accounts.value : undefined,
      eventSource: "skyhook",
    };
    expect(readReactions(await textOf("reactions.yaml"), context).kind).toBe("valid");
    expect(readThresholdConfig(await textOf("thresholds.yaml")).kind).toBe("valid");
    expect(readWatchlist(await textOf("watchlist.yaml")).kind).toBe("valid");
  });

  test("names a schema in each file that skyhook schema writes beside it", async () => {
    await runHere("init");

    const texts = await Promise.all(NAMES.map(textOf));

    expect(texts.map((text) => text.split("\n")[0])).toEqual(
      NAMES.map(
        (name) => `# yaml-language-server: $schema=${name.replace(".yaml", ".schema.json")}`,
      ),
    );
  });

  test("leaves a file that exists, and says so", async () => {
    await writeFile(join(folder, "reactions.yaml"), "reactions: []\n");

    const { exitCode, stdout } = await runHere("init");

    expect(exitCode).toBe(0);
    expect(stdout).toContain("left   reactions.yaml   it exists already\n");
    expect(await textOf("reactions.yaml")).toBe("reactions: []\n");
    expect(stdout.match(/^wrote/gm)).toHaveLength(3);
  });

  test("writes files that skyhook start runs with", async () => {
    await runHere("init");
    const flags = NAMES.flatMap((name) => [`--${name.replace(".yaml", "")}`, name]);

    const { exitCode, stderr } = await runHere("start", "--port", "0", "--exit", ...flags);

    expect(stderr).toContain("account main: https://api.gcore.com");
    expect(exitCode).toBe(0);
  });
});
