import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { expect, test } from "vitest";
import { createEventbridgeBus } from "../../../lib/platform/aws/eventbridge-bus.ts";
import type { BusEntry } from "../../../lib/platform/ports/bus.ts";
import { createStubAws, inTurn, type StubReply } from "../../support/stub-aws.ts";

const open = (...replies: Parameters<typeof inTurn>) => {
  const aws = createStubAws(inTurn(...replies));
  const client = new EventBridgeClient({ ...aws.clientConfig, maxAttempts: 1 });
  return { aws, bus: createEventbridgeBus({ client, busName: "skyhook", source: "skyhook" }) };
};

const entry = (text: string): BusEntry => ({
  detailType: "TaskFinished",
  detail: { text },
  time: Date.UTC(2026, 0, 2, 3, 4, 5),
  groupId: "g",
  deduplicationId: text.slice(0, 20),
});

const accepted = (count: number): StubReply => ({
  status: 200,
  body: {
    FailedEntryCount: 0,
    Entries: Array.from({ length: count }, (_, index) => ({ EventId: `event-${index}` })),
  },
});

const entryCounts = (requests: readonly { readonly body: unknown }[]): readonly number[] =>
  // The body was recorded by the stub of this test.
  requests.map(({ body }) => (body as { Entries: unknown[] }).Entries.length);

test("an entry becomes one entry of PutEvents", async () => {
  const { aws, bus } = open(accepted(1));

  expect(await bus.publish([entry("hello")])).toEqual([{ kind: "published" }]);

  expect(aws.requests).toEqual([
    {
      operation: "PutEvents",
      body: {
        Entries: [
          {
            EventBusName: "skyhook",
            Source: "skyhook",
            DetailType: "TaskFinished",
            Detail: '{"text":"hello"}',
            Time: 1767323045,
          },
        ],
      },
    },
  ]);
});

test("publishing nothing sends nothing", async () => {
  const { aws, bus } = open(accepted(0));

  expect(await bus.publish([])).toEqual([]);

  expect(aws.requests).toEqual([]);
});

test("more than ten entries are split into requests of at most ten", async () => {
  const { aws, bus } = open(accepted(10), accepted(10), accepted(3));

  const outcomes = await bus.publish(Array.from({ length: 23 }, (_, index) => entry(`${index}`)));

  expect(outcomes).toEqual(Array.from({ length: 23 }, () => ({ kind: "published" })));
  expect(entryCounts(aws.requests)).toEqual([10, 10, 3]);
});

// An entry has 44 bytes besides its text: 14 (time), 7 (source), 12 (detail type), 11 ({"text":""}).
test.each([
  { case: "exactly 256 KiB together leave in one request", secondLength: 131_028, counts: [2] },
  { case: "one byte more leave in two requests", secondLength: 131_029, counts: [1, 1] },
])("two entries of $case", async ({ secondLength, counts }) => {
  const { aws, bus } = open(accepted(2));

  await bus.publish([entry("x".repeat(131_028)), entry("x".repeat(secondLength))]);

  expect(entryCounts(aws.requests)).toEqual(counts);
});

test("a request contains as many entries as fit together", async () => {
  const { aws, bus } = open(accepted(2), accepted(1));

  await bus.publish(["a", "b", "c"].map((letter) => entry(letter.repeat(100_000))));

  expect(entryCounts(aws.requests)).toEqual([2, 1]);
});

test("sizes are measured in bytes of UTF-8", async () => {
  const { aws, bus } = open(accepted(2));

  await bus.publish([entry("€".repeat(50_000)), entry("€".repeat(50_000))]);

  expect(entryCounts(aws.requests)).toEqual([1, 1]);
});

test("each entry has its own outcome", async () => {
  const { bus } = open({
    status: 200,
    body: {
      FailedEntryCount: 1,
      Entries: [
        { EventId: "event-0" },
        { ErrorCode: "ThrottlingException", ErrorMessage: "slow down" },
        { EventId: "event-2" },
      ],
    },
  });

  expect(await bus.publish([entry("a"), entry("b"), entry("c")])).toEqual([
    { kind: "published" },
    { kind: "failed", code: "ThrottlingException", message: "slow down" },
    { kind: "published" },
  ]);
});

test("an entry missing from the reply counts as failed", async () => {
  const { bus } = open(accepted(1));

  expect(await bus.publish([entry("a"), entry("b")])).toEqual([
    { kind: "published" },
    { kind: "failed", code: "NoOutcome", message: "PutEvents returned no outcome for this entry" },
  ]);
});

test("a failed request fails only its own entries", async () => {
  const refused: StubReply = {
    status: 400,
    body: { __type: "ValidationException", message: "over the limit" },
  };
  const { aws, bus } = open(accepted(1), refused, accepted(1));

  const outcomes = await bus.publish([entry("a"), entry("x".repeat(300_000)), entry("b")]);

  expect(outcomes).toEqual([
    { kind: "published" },
    { kind: "failed", code: "ValidationException", message: "over the limit" },
    { kind: "published" },
  ]);
  expect(entryCounts(aws.requests)).toEqual([1, 1, 1]);
});

test("a broken connection is a failed outcome, not a rejection", async () => {
  const { bus } = open(new Error("socket hang up"));

  expect(await bus.publish([entry("a")])).toEqual([
    { kind: "failed", code: "Error", message: "socket hang up" },
  ]);
});
