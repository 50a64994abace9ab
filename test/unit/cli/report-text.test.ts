import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { reportText } from "../../../lib/cli/commands/status.ts";
import type { CommandState } from "../../../lib/cli/request-schema.ts";

const commandState = (fields: Partial<CommandState>): CommandState => ({
  kind: "command",
  commandId: "c1",
  operation: "update-container",
  status: "running",
  lane: "local/container/1/2/web",
  attempts: 1,
  taskIds: [],
  acceptedAt: "2026-01-31T12:00:00.000Z",
  deadline: "2026-01-31T14:00:00.000Z",
  ...fields,
});

/** The lines below those of every state. */
const linesOf = (fields: Partial<CommandState>, flags = ""): readonly string[] => {
  const lines = stripVTControlCharacters(reportText(commandState(fields), flags)).split("\n");
  return lines.slice(lines.findIndex((line) => line.startsWith("  accepted ")) + 1);
};

const attempt = (number: number, fields: object = {}) => ({
  number,
  startedAt: "2026-01-31T12:00:01.000Z",
  endedAt: "2026-01-31T12:00:02.250Z",
  ...fields,
});

describe("the report of a command", () => {
  it("shows every attempt with time, duration and result", () => {
    const history = [
      attempt(1, { disposition: "lost" }),
      attempt(2, { disposition: "throttled", code: "throttled", status: 429, message: "429 slow" }),
      attempt(3, { disposition: "transient", code: "locked", status: 409 }),
      attempt(4, { disposition: "answered" }),
      { number: 5, startedAt: "2026-01-31T12:00:03.000Z" },
    ];

    expect(linesOf({ history })).toEqual([
      "  attempt  sent                      duration  result",
      "  1        2026-01-31T12:00:01.000Z  -         lost: its process died before the reply",
      "  2        2026-01-31T12:00:01.000Z  1.3 s     throttled: 429 slow",
      "  3        2026-01-31T12:00:01.000Z  1.3 s     transient: 409 locked",
      "  4        2026-01-31T12:00:01.000Z  1.3 s     answered",
      "  5        2026-01-31T12:00:03.000Z  -         in flight",
    ]);
  });

  it("shows the newest twenty of many attempts, and how to list all", () => {
    const history = Array.from({ length: 25 }, (_, index) =>
      attempt(index + 1, { disposition: "answered" }),
    );

    const lines = linesOf({ history });

    expect(lines).toHaveLength(22);
    expect(lines[1]).toMatch(/^ {2}6 /);
    expect(lines.at(-1)).toBe("  and 5 earlier; --json lists all");
  });

  it("escapes control characters in the provider's text", () => {
    const history = [attempt(1, { disposition: "permanent", message: "400 \u001b[2J\u202e" })];

    expect(linesOf({ history }).at(-1)).toMatch(/permanent: 400 \\u001b\[2J\\u202e$/);
  });

  it.each([
    [
      { for: "lane", ahead: 3, holder: { sender: "111122223333", commandId: "c0" } },
      "  waits in its lane, 3 ahead; in flight: c0 of 111122223333",
    ],
    [{ for: "others", commandIds: ["a", "b"] }, "  waits for the commands a, b"],
    [
      { for: "reply", until: "2026-01-31T12:00:45.000Z" },
      "  waits for a reply, until 2026-01-31T12:00:45.000Z at the latest",
    ],
    [
      { for: "next-attempt", until: "2026-01-31T12:00:45.000Z", because: "paused" },
      "  next attempt at 2026-01-31T12:00:45.000Z",
    ],
    [{ for: "tasks", taskIds: ["t1"] }, "  waits for the tasks t1"],
  ] as const)("says what a command waits for: %j", (waitsFor, line) => {
    const waiting = waitsFor as unknown as NonNullable<CommandState["waitsFor"]>;

    expect(linesOf({ waitsFor: waiting })).toEqual([line]);
  });

  it("shows the actions of operators", () => {
    const resolution = {
      applied: false,
      resolvedAt: "2026-02-01T09:00:00.000Z",
      note: "not there",
    };
    const cancelRequestedAt = "2026-01-31T13:00:00.000Z";

    expect(linesOf({ cancelRequestedAt, resolution })).toEqual([
      "  cancelled by an operator at 2026-01-31T13:00:00.000Z",
      "  resolved by an operator at 2026-02-01T09:00:00.000Z: it did not take effect (not there)",
    ]);
  });

  it.each([
    ["cancel", "  next: npx skyhook cancel c1 --stage prod"],
    [
      "resolve",
      "  next: check the effect at the provider, then npx skyhook resolve c1 --applied | --not-applied --stage prod",
    ],
    ["follow-task", "  next: follow the open tasks: npx skyhook send follow-task, for t2"],
    [
      "check-effect",
      "  next: check the effect at the provider; only without effect, send the command again under a new id",
    ],
    ["send-again", "  next: remove the cause, then send the command again under a new id"],
  ])("shows the operator's next step: %s", (act, line) => {
    const tasks = [{ id: "t1", end: { kind: "finished" } }, { id: "t2" }];

    expect(linesOf({ personCan: [act], tasks }, " --stage prod")).toEqual([line]);
  });

  it("quotes an id as one shell word", () => {
    const [line] = linesOf({ personCan: ["cancel"], commandId: "it's $HOME" });

    expect(line).toBe("  next: npx skyhook cancel 'it'\\''s $HOME'");
  });

  it.each([
    ["its own id", { commandId: "a\u001b[2J", personCan: ["cancel"] }],
    ["an id of others", { status: "waiting", after: ["a\u001b[2J"] }],
    ["a problem", { problems: [{ path: "tasks.t1", rule: "boom \u001b[2J" }] }],
    ["what was created", { createdResources: { "a\u001b[2J": ["r\u001b[2J"] } }],
    ["a note", { resolution: { applied: true, resolvedAt: "now", note: "\u001b[2J" } }],
    [
      "the holder of its lane",
      { waitsFor: { for: "lane", ahead: 1, holder: { sender: "\u001b[2J", commandId: "c" } } },
    ],
  ])("escapes control characters in %s", (_what, fields) => {
    const state = commandState(fields as unknown as Partial<CommandState>);

    const text = stripVTControlCharacters(reportText(state, "").replaceAll("\u001b[2J", "STEERS"));

    expect(text).not.toContain("STEERS");
    expect(text).toContain("\\u001b[2J");
  });

  it("shows when a command was accepted and when it ended", () => {
    const text = reportText(
      commandState({ status: "succeeded", endedAt: "2026-01-31T12:00:02.500Z" }),
      "",
    );

    expect(text).toContain("\n  accepted 2026-01-31T12:00:00.000Z, ended 2026-01-31T12:00:02.500Z");
  });

  it("names the ends of its tasks", () => {
    const tasks = [
      { id: "t1", end: { kind: "failed" } },
      { id: "t2", end: { kind: "unknown" } },
      { id: "t3" },
    ];

    expect(reportText(commandState({ taskIds: ["t1", "t2", "t3"], tasks }), "")).toContain(
      "\n  task t1 failed\n  task t2 is unknown to the provider\n  task t3\n",
    );
  });

  it("shows each task's last recorded state", () => {
    const since = "2026-01-31T12:00:00.000Z";
    const endedAt = "2026-01-31T12:00:10.500Z";
    const tasks = [
      { id: "t1", end: { kind: "finished" }, recorded: { status: "finished", since, endedAt } },
      { id: "t2", recorded: { status: "open", since } },
      { id: "t3", recorded: { status: "abandoned", since, endedAt } },
    ];

    expect(reportText(commandState({ taskIds: ["t1", "t2", "t3"], tasks }), "")).toContain(
      [
        "\n  task t1 finished after 10.5 s",
        "\n  task t2 open since 2026-01-31T12:00:00Z",
        "\n  task t3 abandoned at 2026-01-31T12:00:10Z\n",
      ].join(""),
    );
  });

  it("shows events, and which of them wait to be published", () => {
    const id = "b762efce-3605-52fe-8eaa-2deb3e7f32a7";
    const time = "2026-01-31T12:00:00.123Z";
    const events = [
      { type: "CommandAccepted", id, time, state: "published" as const },
      { type: "CommandSucceeded", id, time, state: "waiting" as const },
    ];

    const lines = linesOf({ events });

    expect(lines).toEqual([
      "  event             time                  id",
      `  CommandAccepted   2026-01-31T12:00:00Z  ${id}`,
      `  CommandSucceeded  2026-01-31T12:00:00Z  ${id}`,
      "  waits to be published: CommandSucceeded",
    ]);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(80);
  });
});
