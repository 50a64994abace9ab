import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { eventLine, forwardedLine, incomingLine } from "../../../lib/cli/event-line.ts";
import { priceChangesText, priceHistoryText, priceListText } from "../../../lib/cli/price-text.ts";
import { jsonLine } from "../../../lib/cli/render.ts";
import { stateText } from "../../../lib/cli/request-state.ts";
import { createInvocationLog } from "../../../lib/platform/lambda/powertools.ts";
import { serve } from "../../../lib/service/serve.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { requestOf, shared } from "../../support/requests.ts";
import { createIntakeWorld, eventOf, OWN } from "../../unit/intake/intake-world.ts";
import { startService } from "../../unit/service/harness.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Characters that end lines, control terminals, hide text or change its direction. */
const HOSTILE =
  "a\r\nX-Admin: 1\n\u0000\u0007\u0008\u001b[2J\u001b]0;t\u0007\u009b31m\u2028\u2029\u0085\u202e\ufeff\u200b\u007f\ud800\u{e0001}";
const STEERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const hostile = fc
  .array(fc.constantFrom(...HOSTILE, "local", "/", "%0a", "%1b", " ", "é", "😀"), { maxLength: 20 })
  .map((parts) => parts.join(""));

const busEvent = (detailType: string, detail: Readonly<Record<string, never>>) => ({
  version: "0",
  id: "e1",
  "detail-type": detailType,
  source: "skyhook",
  account: "000000000000",
  time: "2026-01-31T12:34:56Z",
  region: "us-east-1",
  resources: [],
  detail,
});

const EVENTS = [
  "CommandAccepted",
  "CommandRejected",
  "CommandSucceeded",
  "CommandFailed",
  "CommandCancelled",
  "TaskFinished",
  "TaskFailed",
];

describe("a line for a terminal is one line without control characters:", () => {
  test.each(EVENTS)("the line of %s", (detailType) => {
    fc.assert(
      fc.property(hostile, (text) => {
        const detail = {
          metadata: { commandId: text, sender: text, account: text, time: text },
          data: {
            operation: text,
            lane: encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, "")),
            taskId: text,
            outcome: text,
            reason: text,
            tag: { value: text },
            createdResources: { [text]: [text] },
            problems: [{ path: text, rule: text }],
          },
        };

        expect(eventLine(busEvent(detailType, JSON.parse(JSON.stringify(detail))))).not.toMatch(
          STEERS,
        );
      }),
    );
  });

  test("the line of an AI task", () => {
    const ended = { taskId: HOSTILE, missingSince: "2026-01-31T12:00:00Z" };
    const detail = { metadata: { time: "t" }, data: ended };

    const line = eventLine(busEvent("AiTaskVanished", JSON.parse(JSON.stringify(detail))));

    expect(line).toContain("vanished");
    expect(line).not.toMatch(STEERS);
  });

  test("the line of any sender's event, also on its way to another bus", () => {
    const event = busEvent(
      HOSTILE,
      JSON.parse(JSON.stringify({ metadata: { commandId: HOSTILE } })),
    );

    for (const line of [incomingLine({ ...event, source: HOSTILE }), forwardedLine("1", event)]) {
      expect(line).not.toMatch(STEERS);
    }
  });

  test("JSON, which keeps its value", () => {
    fc.assert(
      fc.property(fc.dictionary(hostile, hostile), (value) => {
        expect(jsonLine(value)).not.toMatch(STEERS);
        expect(JSON.parse(jsonLine(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe("a text of several lines has no line breaks but Skyhook's:", () => {
  const problems = [{ path: HOSTILE, rule: HOSTILE }];
  const command = {
    kind: "command" as const,
    commandId: HOSTILE,
    operation: "create-router",
    status: "running",
    lane: HOSTILE,
    attempts: 1,
    lastError: HOSTILE,
    problems,
    after: [HOSTILE],
    wouldSend: { method: "GET", path: HOSTILE, body: HOSTILE },
    tag: { key: HOSTILE, value: HOSTILE },
    taskIds: [HOSTILE],
    createdResources: { [HOSTILE]: [HOSTILE] },
    acceptedAt: "2026-01-31T12:00:00.000Z",
    deadline: HOSTILE,
  };
  const total = { currency: HOSTILE, per_hour: HOSTILE, per_month: HOSTILE };
  const reading = {
    number: 1,
    kind: "instance",
    readAt: "",
    lastSeenAt: "",
    status: "show",
    total,
  } as const;
  const lastRun = { bucket: "", outcome: "failed", problem: HOSTILE } as const;
  const categories = [{ category: HOSTILE, before: HOSTILE, after: HOSTILE }];

  test.each([
    ["a command's state", stateText(command), 10],
    ["a rejection", stateText({ kind: "rejected", operation: HOSTILE, reason: "x", problems }), 2],
    ["prices", priceListText([{ name: "n", kind: "instance", latest: reading, lastRun }]), 2],
    ["a price's history", priceHistoryText([{ ...reading, amounts: {} }]), 2],
    [
      "changed prices",
      priceChangesText([
        {
          ...reading,
          name: "n",
          previousReadAt: "",
          before: total,
          after: total,
          percent: null,
          categories,
        },
      ]),
      3,
    ],
  ])("%s", (_, text, lines) => {
    expect(text.split("\n")).toHaveLength(lines);
    expect(text.replaceAll("\n", "")).not.toMatch(STEERS);
  });
});

test("a log line of a function is one line of JSON for any field values", () => {
  const writes: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((text) => writes.push(String(text)) > 0);
  }
  const log = createInvocationLog().with({ commandId: HOSTILE, [HOSTILE]: HOSTILE });

  log.info("m", { sender: HOSTILE, problems: [HOSTILE] });
  log.error("m", { stack: HOSTILE, errorMessage: "x".repeat(300_000) });

  const lines = writes
    .join("")
    .trimEnd()
    .split(/[\r\n]/);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { sender: HOSTILE, [HOSTILE]: HOSTILE },
    { stack: HOSTILE },
  ]);
});

test("no name in a request adds a log line or an event", async () => {
  await fc.assert(
    fc.asyncProperty(hostile, hostile, async (id, name) => {
      const world = await createIntakeWorld({ rights: shared(OWN) });
      const metadata = { id, correlationId: id };
      const data = { operation: name, account: name, params: { [name]: id }, after: [id] };

      await world.put(
        eventOf(OWN, "CommandRequested", requestOf(id, data, metadata), { source: name }),
      );

      expect(world.publishedTypes()).toEqual(["CommandRejected"]);
      expect(world.log.lines).toHaveLength(1);
    }),
    { numRuns: 50 },
  );
});

test("no path adds a header to a response of the service", async () => {
  const { service } = await startService();
  const served = await serve(service, 0);
  const odd = encodeURIComponent("a\r\nset-cookie: x=1\r\n\r\n<>;\"',\0");

  const answer = await fetch(`${served.url}/cloud/v1/lbpools/1/2/${odd}`, {
    method: "PATCH",
    headers: { authorization: `apikey ${BUILT_IN_API_KEYS.first}` },
  });
  await served.close();

  expect(answer.headers.get("set-cookie")).toBeNull();
  expect(answer.headers.get("link")).toMatch(
    /^<\/cloud\/v2\/lbpools\/1\/2\/[^<>\s"]*>; rel="[\w-]+"$/,
  );
});
