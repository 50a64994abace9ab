import { describe, expect, it } from "vitest";
import { runSkyhook } from "../../support/skyhook-process.ts";

describe("skyhook cost", () => {
  it.concurrent("prints units and dollars of a month", async () => {
    const { exitCode, stdout, stderr } = await runSkyhook([
      "cost",
      ...["--commands", "1000000", "--task-seconds", "120"],
    ]);

    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      "A month of 1,000,000 commands with a task of 120 s each; 45.7 tasks are open on average\n",
    );
    expect(stdout).toMatch(/^WRU of the due index +4,000,000 +0 +0 +\$2\.50$/m);
    expect(stdout).toMatch(/^dollars +\$16\.63 +\$8\.06 +\$0\.92 +\$25\.61$/m);
    expect(stderr).toContain("Left out: scheduled jobs, alarms");
  });

  it.concurrent("prints one JSON object", async () => {
    const { stdout, stderr } = await runSkyhook(["cost", "--commands", "1000000", "--json"]);

    expect(JSON.parse(stdout)).toMatchObject({
      commands: 1_000_000,
      taskSeconds: 0,
      dollars: { commands: 13.2, following: 0, idle: 0.92, total: 14.12 },
      units: { commands: { tableWrites: 6_000_000 } },
    });
    expect(stderr).toBe("");
  });

  it.concurrent.each([
    [
      ["--commands", "many", "--task-seconds", "1.5"],
      "  --commands: a whole number\n  --task-seconds",
    ],
    [["--commands", "-1"], "--commands: a whole number"],
    [["--commands", "1000000001"], "--commands: "],
    [["--commands", "1", "--task-seconds", "604801"], "--task-seconds: "],
    [[], "--commands"],
  ])("refuses %j", async (flags, text) => {
    const { exitCode, stdout, stderr } = await runSkyhook(["cost", ...flags]);

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(text);
  });
});
