import { describe, expect, it } from "vitest";
import type { DeadLetterList } from "../../../lib/admin/answers.ts";
import { deadLettersText } from "../../../lib/cli/commands/dead-letters.ts";
import { listText } from "../../../lib/cli/commands/list.ts";
import { reportText } from "../../../lib/cli/commands/status.ts";
import { eventLine, forwardedLine, incomingLine } from "../../../lib/cli/event-line.ts";
import type { Columns } from "../../../lib/cli/layout.ts";
import { priceChangesText, priceHistoryText, priceListText } from "../../../lib/cli/price-text.ts";
import { printResult } from "../../../lib/cli/render.ts";
import { replyText } from "../../../lib/cli/reply-text.ts";
import { stateText } from "../../../lib/cli/request-state.ts";
import type { PriceChangeView } from "../../../lib/jobs/prices/memory.ts";
import { openTerminal, tooWide, WIDTHS } from "./terminal.ts";

const UUID = "01a1fc44-8176-75c7-8616-b92ef599574a";
const LONG_ID = "nightly-scale-up-of-my-container-in-region-76-2026-01-31";
const ACCOUNT = "production-of-the-platform-team";
const LANE = `${ACCOUNT}/storage-event//reaching_used_requests/my-storage-prod/my-bucket`;
const AT = "2026-01-31T12:34:56.789Z";
const PROBLEM =
  "get-k8s-cluster-price: 404 not-found: no region 5 in this project, or no right to see its prices";

describe.each(WIDTHS)("texts at %i columns", (columns) => {
  const row = { at: AT, sender: "111122223333", operation: "update-storage-event" };
  const rows = [
    { ...row, id: "c1", status: "succeeded" },
    { ...row, id: UUID, status: "failed", reason: "unknown-outcome" },
    { ...row, id: LONG_ID, status: "rejected", reason: "not-allowed" },
  ];
  const reading = {
    kind: "gpu_cluster",
    readAt: AT,
    lastSeenAt: AT,
    status: "show",
    total: { currency: "EUR", per_hour: "0.08333333333333333", per_month: "123456.78901234567" },
  } as const;
  const history = [
    { ...reading, number: 1_002, amounts: {} },
    { ...reading, number: 1_001, readAt: "2026-01-01T00:00:00.000Z", amounts: {} },
  ];
  const name = "web-servers-of-the-platform-team-in-luxembourg";
  const run = { bucket: AT, outcome: "unchanged", problem: null } as const;
  const prices = [
    { name, kind: "gpu_cluster", latest: { ...reading, number: 2 }, lastRun: run },
    {
      name: "web",
      kind: "instance",
      latest: null,
      lastRun: { bucket: AT, outcome: "failed", problem: PROBLEM },
    },
  ] as const;
  const change = {
    kind: "instance" as const,
    ...{ name, number: 2, readAt: AT, previousReadAt: AT, percent: "-12.50" },
    before: reading.total,
    after: { ...reading.total, currency: "USD", per_hour: "0.09333333333333333" },
    categories: [
      { category: "per_month.volumes.ultra.of-a-long-name", before: "0.123456789", after: null },
    ],
  } satisfies PriceChangeView;
  const state = {
    ...{ kind: "command", commandId: LONG_ID, operation: "update-storage-event", lane: LANE },
    ...{ status: "failed", reason: "unknown-outcome", attempts: 2, acceptedAt: AT, endedAt: AT },
    ...{ deadline: AT, taskIds: [UUID, UUID, UUID], account: ACCOUNT, accountPausedUntil: AT },
    problems: [{ path: "body.envs.A_LONG_NAME_OF_A_VARIABLE", rule: PROBLEM }],
    waitsFor: { for: "others", commandIds: [LONG_ID, UUID, LONG_ID] },
    resolution: { applied: false, resolvedAt: AT, note: "looked at the provider: it is not there" },
    history: [
      { number: 1, startedAt: AT, endedAt: AT, disposition: "transient", message: PROBLEM },
      { number: 2, startedAt: AT },
    ],
    personCan: ["cancel", "resolve", "follow-task", "check-effect", "send-again"],
    rejections: [
      {
        ...{ commandId: LONG_ID, eventId: UUID, operation: "update-pool", reason: "id-reused" },
        ...{ problems: [{ path: "metadata.commandId", rule: PROBLEM }], rejectedAt: AT },
      },
    ],
  } satisfies Parameters<typeof reportText>[0];
  const deadLetters: DeadLetterList = {
    more: 12,
    deadLetters: [
      {
        ...{ kind: "request", mayRunTwice: false, deletingLoses: "rejection" },
        ...{ queue: "commands", diagnosis: "invalid" },
        ...{ messageId: UUID, cameAt: AT, receiveCount: 10, bytes: 123_456 },
        ...{ groupId: LANE, what: `a request of ${LONG_ID} to update a storage event` },
        ...{ sender: "111122223333", commandId: LONG_ID, operation: "update-pool", lane: LANE },
        ...{ standing: "failed (unknown-outcome); an operator must resolve it", reason: "invalid" },
        problems: [{ path: "body.listening_port", rule: PROBLEM }],
        content: { metadata: { id: UUID }, data: { operation: "update-pool", name: LONG_ID } },
        ...{ redrive: "would be rejected again, with the same problems", advice: "delete" },
      },
    ],
  };
  const reply = {
    items: [
      { id: UUID, name: LONG_ID, created_at: AT, status: "ACTIVE", size: 12, tags: ["a", "b"] },
      { id: UUID, name: "x", created_at: AT, status: "BUILDING", size: null, tags: [] },
    ],
    deep: { deeper: [{ name: LONG_ID, rule: PROBLEM, more: [{ id: UUID, text: PROBLEM }] }] },
  };
  const event = (detailType: string, data: object, commandId = LONG_ID) => ({
    ...{ version: "0", id: UUID, "detail-type": detailType, source: "skyhook", time: AT },
    ...{ account: "000000000000", region: "us-east-1", resources: [] },
    detail: { metadata: { id: UUID, time: AT, commandId, account: ACCOUNT }, data: { ...data } },
  });
  const rejected = {
    operation: "x",
    reason: "invalid",
    problems: [{ path: "a.b", rule: PROBLEM }],
  };
  const texts: readonly (readonly [string, (width: Columns) => string])[] = [
    ["list", (width) => listText({ rows }, undefined, width)],
    ["prices list", (width) => priceListText(prices, width)],
    ["prices history", (width) => priceHistoryText(history, width, true)],
    ["prices changes", (width) => priceChangesText([change], width)],
    ["status", (width) => reportText(state, ` --sender 111122223333`, "", width)],
    ["send --wait", () => stateText(state)],
    ["dead-letters", () => deadLettersText(deadLetters)],
    ["read", (width) => replyText(reply, width)],
    ...[
      event("CommandAccepted", { operation: "create-storage-event", lane: LANE }),
      event("CommandRejected", rejected, UUID),
      event("CommandFailed", { ...rejected, lane: LANE, durationMs: 7_200_000 }, "c1"),
      event("TaskFinished", { lane: LANE, taskId: UUID, durationMs: 7_200_000 }, UUID),
      event("CommandSucceeded", { lane: LANE, outcome: "done", lostReplies: 1 }, UUID),
      event("CommandSucceeded", { lane: LANE, createdResources: { routers: [UUID, UUID] } }),
      event("AccountKeyRefused", { since: AT }),
    ].map((each) => [each["detail-type"], (width: Columns) => eventLine(each, width)] as const),
    ["an event from elsewhere", (width) => incomingLine(event("InvoicePaid", {}), width)],
    ["an event to elsewhere", (width) => forwardedLine("111122223333", event("X", {}), width)],
  ];

  const printed = (...given: readonly ((width: Columns) => string)[]) => {
    const terminal = openTerminal(columns);
    for (const text of given) printResult(text);
    terminal.close();
    return terminal;
  };

  it.each(texts)("%s fits", (_name, text) => {
    const terminal = printed(text);

    expect(terminal.text()).not.toBe("");
    expect(tooWide(terminal)).toEqual([]);
  });

  it("no id is cut", () => {
    const listed = printed((width) => listText({ rows }, undefined, width)).text();
    const status = printed((width) => reportText(state, "", "", width)).text();
    const line = printed((width) => eventLine(event("CommandAccepted", { lane: LANE }), width));

    for (const { id } of rows) expect(listed.split(/\s+/)).toContain(id);
    expect(status).toContain(LANE);
    expect(status.split(/[\s,]+/).filter((word) => word === LONG_ID)).toHaveLength(5);
    expect(line.text().split(/\s+/)).toContain(LONG_ID);
  });
});
