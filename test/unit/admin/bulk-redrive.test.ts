import { describe, expect, test } from "vitest";
import {
  type DeadLetterFilter,
  deadLetterFilterSchema,
} from "../../../lib/admin/dead-letter-selection.ts";
import {
  deleteDeadLetters,
  joinDeadLetters,
  listDeadLetters,
  previewDelete,
  previewRedrive,
  redriveDeadLetters,
} from "../../../lib/admin/dead-letters.ts";
import type { DeadLetters, HeldDeadLetter } from "../../../lib/platform/ports/dead-letters.ts";
import { updatePolicy } from "../../support/requests.ts";
import { openRecovery } from "./dead-letter-world.ts";

const HOUR_MS = 3_600_000;

/** Dead letters of one queue in memory; `gone` records those that were removed or sent back. */
const queueOf = (
  queue: HeldDeadLetter["queue"],
  bodies: Readonly<Record<string, string>>,
  arrivedAt: number,
) => {
  const gone: string[] = [];
  const held = new Set<string>();
  const all = Object.entries(bodies).map(([messageId, body]) => ({
    ...{ messageId, queue, body, groupId: undefined, arrivedAt, receiveCount: 10 },
    hold: messageId,
  }));
  const left = () => all.filter(({ messageId }) => !gone.includes(messageId));
  const letters: DeadLetters = {
    async hold() {
      const free = left().filter(({ messageId }) => !held.has(messageId));
      for (const { messageId } of free) held.add(messageId);
      return free;
    },
    async release(released) {
      for (const { messageId } of released) held.delete(messageId);
    },
    count: async () => left().length,
    async sendBack({ messageId }) {
      gone.push(messageId);
      return { kind: "sent-back" };
    },
    async remove({ messageId }) {
      gone.push(messageId);
      return "removed";
    },
  };
  return { letters, gone };
};

/** A valid and an unreadable command, and an event an hour later. */
const openQueues = async () => {
  const { deps, world } = await openRecovery();
  const now = world.clock.now();
  const request = JSON.stringify(updatePolicy("p1"));
  const older = queueOf("commands", { valid: request, broken: "{" }, now - 2 * HOUR_MS);
  const newer = queueOf("requests", { other: "{}" }, now - HOUR_MS);
  const late = queueOf("commands", { late: request }, now + 1);
  const deadLetters = joinDeadLetters([older.letters, newer.letters, late.letters]);
  const gone = () => [...older.gone, ...newer.gone, ...late.gone];
  return { deps: { ...deps, deadLetters }, gone, now };
};

const matching = (filter: DeadLetterFilter) => ({ kind: "matching", filter }) as const;

describe("a bulk redrive", () => {
  test("is previewed with the reason for each one that it keeps, and changes nothing", async () => {
    const { deps, gone, now } = await openQueues();

    const preview = await previewRedrive(deps, matching({ queue: "commands" }));

    expect(preview.outcomes).toMatchObject([
      { messageId: "valid", outcome: "would-send-back", why: "runs it" },
      { messageId: "broken", outcome: "kept", why: "no command" },
    ]);
    expect(preview.until).toBe(new Date(now).toISOString());
    expect(gone()).toEqual([]);
    // Every dead letter is free again.
    expect((await listDeadLetters(deps)).deadLetters).toHaveLength(4);
  });

  test("sends back what its preview foresaw, and leaves later arrivals alone", async () => {
    const { deps, gone } = await openQueues();
    const { until } = await previewRedrive(deps, matching({ queue: "commands" }));

    const outcomes = await redriveDeadLetters(deps, matching({ queue: "commands", until }));

    expect(outcomes).toMatchObject([
      { messageId: "valid", outcome: "sent-back" },
      { messageId: "broken", outcome: "kept" },
    ]);
    expect(gone()).toEqual(["valid"]);
  });

  test.each([
    ["queue", { queue: "requests" }, ["other"]],
    ["diagnosis", { reason: "unreadable" }, ["broken"]],
    ["time", { since: -1.5 * HOUR_MS }, ["other"]],
    ["all of them", { queue: "commands", reason: "runnable", since: -3 * HOUR_MS }, ["valid"]],
  ] as const)("selects by %s", async (_name, given, expected) => {
    const { deps, now } = await openQueues();
    const { since, ...rest } = { since: undefined, ...given };
    const filter = {
      ...rest,
      ...(since !== undefined && { since: new Date(now + since).toISOString() }),
    };

    const { outcomes } = await previewRedrive(deps, matching(filter));

    expect(outcomes.map(({ messageId }) => messageId)).toEqual(expected);
  });

  test("is refused without a filter that narrows it", () => {
    const refused = deadLetterFilterSchema.safeParse({ until: "2026-01-01T00:00:00Z" });

    expect(refused.error?.issues).toMatchObject([
      { message: "needs at least one of queue, reason, since" },
    ]);
  });
});

describe("a bulk deletion", () => {
  test("keeps what it would lose, in the preview and after it", async () => {
    const { deps, gone } = await openQueues();
    const filter = { queue: "commands" } as const;

    const preview = await previewDelete(deps, matching(filter), false);
    const forced = await previewDelete(deps, matching(filter), true);
    await deleteDeadLetters(deps, matching(filter), false);

    expect(preview.outcomes.map(({ outcome }) => outcome)).toEqual(["kept", "would-delete"]);
    expect(forced.outcomes.map(({ outcome }) => outcome)).toEqual(["would-delete", "would-delete"]);
    expect(gone()).toEqual(["broken"]);
  });
});
