import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "vitest";
import {
  eventsIn,
  runSkyhook,
  type SkyhookProcess,
  startSkyhook,
} from "../../support/skyhook-process.ts";

const THRESHOLDS =
  "prune: true\nthresholds: [{ name: reaching_used_space, bucket_name: mine, bytes: 1 GiB }]\n";
const WATCHLIST = "items: [{ name: ddos, ddos: { region_id: 76 } }]\n";

const newFolder = async ({ onTestFinished }: TestContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-jobs-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

const end = async (program: SkyhookProcess): Promise<unknown> => {
  program.child.kill("SIGINT");
  return program.ended();
};

const typesOf = (program: SkyhookProcess): readonly string[] =>
  eventsIn(program.stdout()).map((event) => event["detail-type"]);

/** Waits until so many events of a type were printed. */
const printedTimes = async (program: SkyhookProcess, type: string, times: number) => {
  while (typesOf(program).filter((each) => each === type).length < times) {
    await new Promise<void>((resolve) => program.child.stdout?.once("data", () => resolve()));
  }
};

describe("the scheduled jobs of a local run", () => {
  it.concurrent("follow a user's own files during edits", async (context) => {
    const { expect } = context;
    const folder = await newFolder(context);
    const [thresholds, watchlist] = ["t.yaml", "w.yaml"].map((name) => join(folder, name)) as [
      string,
      string,
    ];
    await writeFile(thresholds, THRESHOLDS);
    await writeFile(watchlist, WATCHLIST);
    const files = ["--thresholds", thresholds, "--watchlist", watchlist];
    const program = startSkyhook(["start", "--no-demo", "--json", ...files]);
    await printedTimes(program, "ThresholdsSynced", 1);
    await printedTimes(program, "PricesCaptured", 1);

    await writeFile(thresholds, THRESHOLDS.replace("1 GiB", "2 GiG"));
    await printedTimes(program, "ThresholdsRejected", 1);
    await writeFile(thresholds, THRESHOLDS.replace("1 GiB", "2 GiB"));
    await printedTimes(program, "ThresholdsSynced", 2);
    await writeFile(watchlist, WATCHLIST.replace("ddos,", "shield,"));
    await printedTimes(program, "PricesCaptured", 2);

    expect(await end(program)).toBe(0);
    const [first, second] = eventsIn(program.stdout()).filter(
      (event) => event["detail-type"] === "ThresholdsSynced",
    );
    expect(first?.detail.data.counts).toMatchObject({ created: 1, deleted: 2 });
    expect(second?.detail.data.counts).toMatchObject({ updated: 1 });
  });

  it.concurrent("report the problems of an invalid watchlist, and the demo continues without it", async (context) => {
    const { expect } = context;
    const folder = await newFolder(context);
    const watchlist = join(folder, "w.yaml");
    await writeFile(watchlist, "items:\n  - name: ddos\n");

    const ended = await runSkyhook(["start", "--exit", "--json", "--watchlist", watchlist]);

    expect(ended.exitCode).toBe(0);
    expect(ended.stderr).toContain("16 of 16 steps of the demo ended as expected");
    expect(ended.stderr).toContain("line 2: items.0: give exactly one of instance");
  });

  it.concurrent("report a missing watchlist", async (context) => {
    const { expect } = context;
    const folder = await newFolder(context);
    const watchlist = join(folder, "none.yaml");

    const program = startSkyhook(["start", "--no-demo", "--watchlist", watchlist]);
    await program.printed("watchlist file not found");

    expect(await end(program)).toBe(0);
    expect(program.stderr()).not.toContain("error");
  });

  it.concurrent("keep a user's edits of the demo's files", async (context) => {
    const { expect } = context;
    const folder = join(await newFolder(context), "data");
    const first = await runSkyhook(["start", "--exit", "--data", folder]);
    const edited = "thresholds: [{ name: reaching_used_requests, count: 3 }] # mine\n";
    await writeFile(join(folder, "thresholds.yaml"), edited);

    const second = await runSkyhook(["start", "--exit", "--data", folder]);

    expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
    expect(await readFile(join(folder, "thresholds.yaml"), "utf8")).toBe(edited);
    expect(second.stderr).not.toContain("(the demo edits");
    expect(second.stdout).toMatch(/thresholds +thresholds\.yaml +synced: 1 created/);
  });
});
