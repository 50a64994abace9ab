import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { MUTATIONS } from "../../../lib/contract/operations.ts";
import {
  distinct,
  eventsIn,
  type PublishedEvent,
  runSkyhook,
  startSkyhook,
} from "../../support/skyhook-process.ts";

describe("skyhook start --exit --json", () => {
  let exitCode: unknown;
  let stderr: string;
  let events: readonly PublishedEvent[];

  const of = (commandId: string, sender = "000000000000"): readonly string[] =>
    events
      .filter(({ detail: { metadata } }) => metadata.commandId === commandId)
      .filter(({ detail: { metadata } }) => metadata.sender === sender)
      .map((event) => event["detail-type"]);

  beforeAll(async () => {
    const run = await runSkyhook(["start", "--exit", "--json"]);
    exitCode = run.exitCode;
    stderr = run.stderr;
    // Delivery is at-least-once: the same fact has the same id.
    events = distinct(eventsIn(run.stdout));
  });

  it("ends with status 0 when every demo command ended as expected", () => {
    expect(stderr).toContain("17 of 17 steps of the demo ended as expected");
    expect(exitCode).toBe(0);
  });

  it("syncs thresholds with a file during its edits", () => {
    const synced = events.filter((event) => event["detail-type"] === "ThresholdsSynced");

    expect(synced.map(({ detail }) => detail.data.counts)).toMatchObject([
      { created: 2, updated: 0 },
      { created: 1, updated: 1, unchanged: 1 },
    ]);
    expect(stderr).toContain("(the demo edits ");
  });

  it("shows two snapshots of prices with a change between them", () => {
    const captured = events.filter((event) => event["detail-type"] === "PricesCaptured");
    const changed = events.filter((event) => event["detail-type"] === "PriceChanged");

    expect(captured.map(({ detail }) => [detail.data.first, detail.data.changed])).toEqual([
      [4, 0],
      [0, 2],
    ]);
    expect(changed.map(({ detail }) => [detail.data.name, detail.data.percent]).toSorted()).toEqual(
      [
        ["my-cluster", "3.61"],
        ["web-server", "5.97"],
      ],
    );
  });

  it("shows an AI task that ends, and none that had ended before", () => {
    const ended = events.filter((event) => event["detail-type"] === "AiTaskEnded");

    expect(ended.map(({ detail }) => detail.data)).toMatchObject([
      { taskId: "aafe70c6-0000-4000-8000-327b65f76799", status: "SUCCESS" },
    ]);
  });

  it("prints only Skyhook's own events on stdout", () => {
    expect(new Set(events.map(({ source }) => source))).toEqual(new Set(["skyhook"]));
  });

  it.each(MUTATIONS.map(({ id }) => id))("accepts %s and lets it succeed", (operation) => {
    const succeeded = events.filter(
      (event) =>
        event["detail-type"] === "CommandSucceeded" && event.detail.data.operation === operation,
    );

    expect(succeeded.length).toBeGreaterThan(0);
    for (const { detail } of succeeded) {
      const types = of(detail.metadata.commandId ?? "", detail.metadata.sender);
      expect(types[0]).toBe("CommandAccepted");
      expect(types.at(-1)).toBe("CommandSucceeded");
      expect(types.filter((type) => type === "CommandSucceeded")).toHaveLength(1);
    }
  });

  it.each(["demo-scale-container", "demo-balance-pool", "demo-create-router"])(
    "publishes the end of the task of %s before the command's success",
    (commandId) => {
      expect(of(commandId)).toEqual(["CommandAccepted", "TaskFinished", "CommandSucceeded"]);
    },
  );

  it("publishes a failing task and the failure of its command", () => {
    expect(of("demo-unreachable-registry")).toEqual([
      "CommandAccepted",
      "TaskFailed",
      "CommandFailed",
    ]);
  });

  it("lets an update that changes nothing succeed without a task", () => {
    const [succeeded] = events.filter(
      (event) =>
        event["detail-type"] === "CommandSucceeded" &&
        event.detail.metadata.commandId === "demo-balance-pool-again",
    );

    expect(succeeded?.detail.data.outcome).toBe("no-op");
    expect(succeeded?.detail.data.taskIds).toEqual([]);
  });

  it("rejects the invalid command and names every offending field", () => {
    const [rejected] = events.filter(
      (event) =>
        event["detail-type"] === "CommandRejected" &&
        event.detail.metadata.commandId === "demo-invalid-port",
    );

    expect(of("demo-invalid-port")).toEqual(["CommandRejected"]);
    expect(rejected?.detail.data.problems).toEqual([
      { path: "body.listening_port", rule: "at most 65535" },
      { path: "body.colour", rule: "unknown field" },
    ]);
  });

  it("lets another AWS account's event resume an instance, and refuses a third one's", () => {
    const commandId = "demo-invoice-paid:resume-when-paid";
    const refused = events.filter(({ detail }) => detail.metadata.sender === "444455556666");

    expect(of(commandId, "111122223333")).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect(refused.map((event) => [event["detail-type"], event.detail.data.reason])).toEqual([
      ["CommandRejected", "not-allowed"],
    ]);
  });

  it("runs two commands on one container one after the other", () => {
    const ofContainer = events
      .filter(({ detail }) => String(detail.data.lane).endsWith("/my-container"))
      .map((event) => [event.detail.metadata.commandId, event["detail-type"]])
      .filter(([, type]) => type !== "CommandAccepted");

    expect(ofContainer).toEqual([
      ["demo-scale-container", "TaskFinished"],
      ["demo-scale-container", "CommandSucceeded"],
      ["demo-disable-container", "TaskFinished"],
      ["demo-disable-container", "CommandSucceeded"],
    ]);
  });
});

it("ends every step as expected in a second run, also after a rejected request", async ({
  onTestFinished,
}) => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-demo-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const start = () => runSkyhook(["start", "--exit", "--data", folder]);
  await start();
  const between = startSkyhook(["start", "--no-demo", "--data", folder]);
  await between.printed("What can be sent");
  const endpoint = /listens at:? (\S+)/.exec(between.stderr())?.[1] ?? "none";
  const command = ["resume-instance", "--id", "demo-scale-container"];
  const place = ["--project-id", "1186668", "--region-id", "148"];
  const instance = ["--instance-id", "6c6aa80f-7836-4dc2-a2ae-125e248be478"];
  const reused = await runSkyhook([
    "send",
    ...command,
    ...place,
    ...instance,
    "--wait",
    "--endpoint",
    endpoint,
  ]);
  between.child.kill("SIGTERM");
  await between.ended();

  const { exitCode, stdout, stderr } = await start();

  expect(reused.stdout + reused.stderr).toContain("already used by a command with another payload");
  expect(stdout + stderr).toContain("17 of 17 steps of the demo ended as expected");
  expect(exitCode).toBe(0);
});
