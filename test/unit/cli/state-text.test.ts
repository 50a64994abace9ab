import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import type { CommandState, RequestState } from "../../../lib/cli/request-schema.ts";
import { exitCodeOf, stateText } from "../../../lib/cli/request-state.ts";

const commandState = (fields: Partial<CommandState>): RequestState => ({
  kind: "command",
  commandId: "c1",
  operation: "update-container",
  status: "succeeded",
  lane: "local/container/1/2/web",
  attempts: 1,
  taskIds: [],
  acceptedAt: "2026-01-31T12:00:00.000Z",
  deadline: "2026-01-31T14:00:00.000Z",
  ...fields,
});

const ended = (fields: Partial<CommandState>): RequestState =>
  commandState({ endedAt: "2026-01-31T12:00:02.500Z", ...fields });

const rejected: RequestState = {
  kind: "rejected",
  operation: "update-container",
  reason: "invalid",
  problems: [{ path: "body.timeout", rule: "at most 180" }],
};

const textOf = (state: RequestState): string => stripVTControlCharacters(stateText(state));

describe("the status of a request as text", () => {
  it("shows how a command ended, and its duration", () => {
    expect(textOf(ended({ outcome: "done", taskIds: ["t1"] }))).toBe(
      [
        "update-container c1 succeeded after 2.5 s",
        "  lane local/container/1/2/web, 1 request sent",
        "  task t1",
      ].join("\n"),
    );
  });

  it("names the resources that the tasks created", () => {
    const created = { taskIds: ["t1"], createdResources: { routers: ["r1"] } };

    expect(textOf(ended({ outcome: "done", ...created }))).toContain(
      "\n  task t1\n  created routers: r1",
    );
  });

  it("names another possible cause of a change that was found after a lost reply", () => {
    const attempt = { number: 2, startedAt: "2026-01-31T12:00:01.000Z" };
    const found = { outcome: "done", lostReplies: 1, attempts: 2 };
    const refused = { ...attempt, disposition: "permanent", status: 400 };
    const answered = { ...attempt, disposition: "answered" };

    expect(textOf(ended({ ...found, history: [refused] }))).toBe(
      [
        "update-container c1 succeeded after 2.5 s",
        "  lane local/container/1/2/web, 2 requests sent",
        "  the change was found after a lost reply: this command or another client made it",
      ].join("\n"),
    );
    expect(textOf(ended({ ...found, lostReplies: 2, history: [answered] }))).toContain(
      "\n  2 requests got no reply: an earlier request or another client may have made the change",
    );
    expect(textOf(ended({ ...found, lostReplies: 0 }))).not.toContain("reply");
    expect(textOf(ended({ ...found, status: "failed" }))).not.toContain("another client");
  });

  it("reports a no-op", () => {
    expect(textOf(ended({ outcome: "no-op" }))).toContain(
      "succeeded (nothing to change) after 2.5 s",
    );
  });

  it("shows the reason of a failure", () => {
    const problems = [{ path: "tasks.t1", rule: "no such image" }];

    expect(textOf(ended({ status: "failed", reason: "task-failed", problems, attempts: 2 }))).toBe(
      [
        "update-container c1 failed (task-failed) after 2.5 s",
        "  lane local/container/1/2/web, 2 requests sent",
        "  tasks.t1: no such image",
      ].join("\n"),
    );
  });

  it("shows the cause of an open command's wait, and its deadline", () => {
    expect(textOf(commandState({ status: "running", lastError: "key-refused", attempts: 3 }))).toBe(
      [
        "update-container c1 running",
        "  lane local/container/1/2/web, 3 requests sent",
        "  last attempt: the provider refuses the API key",
        "  deadline 2026-01-31T14:00:00.000Z",
      ].join("\n"),
    );
  });

  it("lists every problem of a rejection", () => {
    expect(textOf(rejected)).toBe(
      "update-container rejected (invalid)\n  body.timeout: at most 180",
    );
  });
});

describe("the exit status of a request's state", () => {
  it.each([
    ["succeeded", ended({}), 0],
    ["failed", ended({ status: "failed" }), 1],
    ["cancelled", ended({ status: "cancelled" }), 1],
    ["running", commandState({ status: "running" }), 0],
    ["rejected", rejected, 2],
  ])("fits a request with status %s", (_status, state, exitCode) => {
    expect(exitCodeOf(state)).toBe(exitCode);
  });
});
