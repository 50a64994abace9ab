import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { eventLine } from "../../../lib/cli/event-line.ts";
import type { JsonObject } from "../../../lib/platform/ports/ledger.ts";

const TIME = "2026-01-31T12:34:56.789Z";
const CONTAINER = "local/container/1234567/76/my-container";
const TASK = "01a1fc44-8176-75c7-8616-b92ef599574a";

const lineOf = (
  detailType: string,
  data: JsonObject,
  commandId: string | undefined = "c1",
  sender = "000000000000",
) =>
  stripVTControlCharacters(
    eventLine({
      version: "0",
      id: "e1",
      "detail-type": detailType,
      source: "skyhook",
      account: "000000000000",
      time: "2026-01-31T12:34:56Z",
      region: "us-east-1",
      resources: [],
      detail: {
        metadata: { id: "e1", time: TIME, sender, ...(commandId !== undefined && { commandId }) },
        data,
      },
    }),
  );

/** The part of a line after time, lane and command. */
const saidOf = (detailType: string, data: JsonObject): string =>
  lineOf(detailType, { operation: "update-container", lane: CONTAINER, ...data }).slice(80);

describe("the line of an event", () => {
  it("shows the line numbers of mistakes in a file", () => {
    const line = lineOf("ThresholdsRejected", {
      cause: "schedule",
      reason: "invalid",
      source: { name: "/tmp/thresholds.yaml", version: "1" },
      problems: [{ path: "thresholds", rule: "a list", line: 3 }],
      problemCount: 1,
    });

    expect(line).toMatch(/rejected: line 3: thresholds: a list$/);
  });

  it("shows time, lane, command, result and duration", () => {
    const line = lineOf("CommandSucceeded", {
      operation: "update-container",
      lane: CONTAINER,
      outcome: "done",
      durationMs: 2_849,
    });

    expect(line).toBe(
      "12:34:56.789  container 1234567/76/my-container     c1                          succeeded 2.8 s",
    );
  });

  it("names another possible cause after a lost reply", () => {
    expect(saidOf("CommandSucceeded", { outcome: "done", lostReplies: 1 })).toBe(
      "succeeded; a reply was lost: an earlier request or another client may have caused it",
    );
    expect(saidOf("CommandSucceeded", { outcome: "done", lostReplies: 0 })).toBe("succeeded");
  });

  it.each([
    [{ applied: true }, "resolved: it took effect"],
    [
      { applied: false, note: "not\u001b there" },
      "resolved: it did not take effect, not\\u001b there",
    ],
  ])("shows an operator's resolution: %j", (data, text) => {
    expect(saidOf("CommandResolved", data)).toBe(text);
  });

  it("names the account of a lane unless it is the local run's own", () => {
    const line = lineOf("CommandAccepted", { operation: "x", lane: "main/policy/1/2/3" });

    expect(line).toContain("  main: policy 1/2/3   ");
  });

  it("escapes terminal control characters, and shows the type of an unknown event", () => {
    const line = lineOf("CommandAccepted", { operation: "x", lane: CONTAINER }, "a\u001b[2J\nb");
    const foreign = lineOf("CommandRejected", { problems: "many" });

    expect(line).toContain("a\\u001b[2J\\u000ab");
    expect(foreign).toContain("CommandRejected (skyhook)");
  });

  it("names the AWS account of a rejected request, unless it is Skyhook's own", () => {
    const rejected = { operation: "x", reason: "not-allowed", problems: [] };

    expect(lineOf("CommandRejected", rejected, "c1", "444455556666")).toContain(
      "AWS account 444455556666              c1 ",
    );
    expect(lineOf("CommandRejected", rejected)).toContain("12:34:56.789  -     ");
  });

  it.each([
    ["CommandAccepted", {}, "accepted update-container"],
    ["CommandSucceeded", { outcome: "no-op" }, "succeeded, nothing to change"],
    ["CommandSucceeded", { outcome: "dry-run" }, "dry run succeeded, nothing sent"],
    [
      "CommandCancelled",
      {
        reason: "guard",
        problems: [{ path: "guards.0", rule: 'tag paid must be "yes"' }],
        tag: { key: "paid", value: "no\u001b[2J", read_only: false },
      },
      'cancelled (guard) guards.0: tag paid must be "yes", but is "no\\u001b[2J"',
    ],
    [
      "CommandCancelled",
      {
        reason: "guard",
        problems: [{ path: "guards.1", rule: "tag paid must exist" }],
        tag: null,
      },
      "cancelled (guard) guards.1: tag paid must exist, but there is no such tag",
    ],
    [
      "CommandCancelled",
      { reason: "dependency", problems: [{ path: "after.0", rule: "command c0 was a dry run" }] },
      "cancelled (dependency) after.0: command c0 was a dry run",
    ],
    ["TaskFinished", { taskId: TASK, durationMs: 40 }, "task 01a1fc44…574a finished 0.0 s"],
    [
      "TaskFailed",
      { taskId: TASK, problems: [{ path: "", rule: "image x:1 is not there" }] },
      "task 01a1fc44…574a failed: image x:1 is not there",
    ],
    [
      "CommandSucceeded",
      { outcome: "done", createdResources: { routers: [TASK] } },
      "succeeded, routers 01a1fc44…574a",
    ],
    [
      "CommandFailed",
      { reason: "refused", problems: [{ path: "body.image", rule: "too long" }] },
      "failed (refused) body.image: too long",
    ],
    [
      "CommandRejected",
      {
        reason: "invalid",
        problems: [
          { path: "body.scale", rule: "required" },
          { path: "", rule: "no body" },
        ],
      },
      "rejected (invalid) body.scale: required; no body",
    ],
    ["SomethingNew", {}, "SomethingNew"],
  ])("describes %s %j", (detailType, data, words) => {
    expect(saidOf(detailType, data)).toBe(words);
  });

  it("does not repeat the task's result in the command's line", () => {
    const data = { reason: "task-failed", problems: [{ path: `tasks.${TASK}`, rule: "no image" }] };

    expect(saidOf("CommandFailed", data)).toBe("failed (task-failed)");
  });

  it("names the requested command id of a rejection without a command id", () => {
    const data = { operation: "x", reason: "id-reused", problems: [], requestedCommandId: "c9" };

    const line = stripVTControlCharacters(
      eventLine({
        version: "0",
        id: "e1",
        "detail-type": "CommandRejected",
        source: "skyhook",
        account: "000000000000",
        time: TIME,
        region: "us-east-1",
        resources: [],
        detail: { metadata: { id: "e1", time: TIME }, data },
      }),
    );

    expect(line.slice(52, 54)).toBe("c9");
  });

  it("keeps the columns aligned for a long lane, and shows the end of the lane", () => {
    const line = lineOf("CommandAccepted", {
      operation: "update-storage-event",
      lane: "local/storage-event//reaching_used_space/my-storage-prod/my-bucket",
    });

    expect(line.slice(14, 50)).toBe("…sed_space/my-storage-prod/my-bucket");
    expect(line.slice(52, 54)).toBe("c1");
  });

  it("shows the names in a lane decoded", () => {
    const line = lineOf("CommandAccepted", {
      operation: "update-container",
      lane: "local/container/1/2/a%2Fb%20c",
    });

    expect(line.slice(14, 50).trimEnd()).toBe("container 1/2/a/b c");
  });

  it("fits 120 columns with typical ids", () => {
    const instance = "local/instance/1234567/76/6c6aa80f-7836-4dc2-a2ae-125e248be476";
    const lines = [
      lineOf("TaskFinished", { lane: instance, taskId: TASK, durationMs: 7_200_000 }),
      lineOf("CommandAccepted", { lane: CONTAINER, operation: "create-storage-event" }, TASK),
      lineOf(
        "CommandSucceeded",
        { lane: CONTAINER, outcome: "done", createdResources: { routers: [TASK] }, durationMs: 9 },
        "demo-unreachable-registry",
      ),
    ];

    expect(lines.map(({ length }) => length > 120)).toEqual([false, false, false]);
  });

  it("never cuts the command id, which skyhook status needs", () => {
    expect(lineOf("CommandAccepted", { lane: CONTAINER, operation: "x" }, TASK)).toContain(TASK);
  });
});

describe("the line of an event at a terminal", () => {
  const LONG = "demo-invoice-paid:resume-when-paid";
  const event = (detailType: string, data: JsonObject, commandId = "c1") => ({
    ...{ version: "0", id: "e1", "detail-type": detailType, source: "skyhook", time: TIME },
    ...{ account: "000000000000", region: "us-east-1", resources: [] },
    detail: { metadata: { id: "e1", time: TIME, commandId }, data },
  });
  const linesAt = (columns: number, ...of: Parameters<typeof event>) =>
    stripVTControlCharacters(eventLine(event(...of), columns)).split("\n");
  const rejected = {
    reason: "invalid",
    problems: [{ path: "body.listening_port", rule: "at most 65535, as in every operation" }],
  };

  it("of 80 columns shows the lane once, below the acceptance", () => {
    expect(
      linesAt(80, "CommandAccepted", { operation: "update-container", lane: CONTAINER }),
    ).toEqual([
      "12:34:56  c1                          accepted update-container",
      "                                      container 1234567/76/my-container",
    ]);
    expect(linesAt(80, "CommandSucceeded", { lane: CONTAINER, durationMs: 100 })).toEqual([
      "12:34:56  c1                          succeeded 0.1 s",
    ]);
  });

  it("of 80 columns moves a lane that is too wide to the left", () => {
    const lane = "local/storage-event//reaching_used_requests/my-storage-prod/my-bucket";

    expect(linesAt(80, "CommandAccepted", { operation: "x", lane })[1]).toBe(
      "          storage-event reaching_used_requests/my-storage-prod/my-bucket",
    );
  });

  it.each([
    [80, 38],
    [120, 80],
  ])("of %i columns continues a result in its column", (columns, start) => {
    const [first = "", ...further] = linesAt(columns, "CommandRejected", rejected, LONG);

    expect(first).toContain(`${LONG}  rejected (invalid)`);
    expect(further.length).toBeGreaterThan(0);
    expect(further.map((each) => each.search(/\S/))).toEqual(further.map(() => start));
  });

  it("keeps the end of a resource and the beginning of a long account", () => {
    const lane = "production-of-the-team/storage-event//reaching_used_space/prod/my-bucket";
    const [line = ""] = linesAt(120, "CommandSucceeded", { lane });

    expect(line.slice(14, 50)).toBe("production-…: …_space/prod/my-bucket");
  });
});
