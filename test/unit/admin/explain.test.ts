import { describe, expect, test } from "vitest";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { requestOf, shared, updatePolicy } from "../../support/requests.ts";
import {
  contextOf,
  DAY_MS,
  explained,
  goingOn,
  ledgerWith,
  NOW,
  OTHER_TEAM,
  sealedBy,
} from "./sample-dead-letters.ts";

describe("a request that was never accepted", () => {
  test("runs after a redrive, and is lost by a deletion", async () => {
    const explanation = await explained(updatePolicy("p1"));

    expect(explanation).toEqual({
      messageId: "m1",
      groupId: "g1",
      cameAt: "2026-01-31T11:59:00.000Z",
      receiveCount: 10,
      bytes: 172,
      queue: "commands",
      kind: "request",
      diagnosis: "runnable",
      what: "a request that was sent to the queue directly",
      sender: "own",
      commandId: "p1",
      operation: "update-policy",
      account: "local",
      lane: "local/policy/1234567/76/1",
      standing: "not in the ledger: never accepted",
      redrive: "runs it",
      advice: "redrive",
      deletingLoses: "command",
      mayRunTwice: false,
      content: {
        operation: "update-policy",
        params: { project_id: 1234567, region_id: 76, policy_id: 1 },
        query: {},
        body: { status: "paused" },
      },
    });
  });

  test("shows its sender if intake sealed it", async () => {
    const explanation = await explained(sealedBy(OTHER_TEAM, updatePolicy("p1")));

    expect(explanation).toMatchObject({
      what: "a request of AWS account 111122223333, sealed by intake",
      sender: "111122223333",
      commandId: "p1",
      redrive: "runs it",
    });
  });

  test("is explained without a seal check if the admin client has no key", async () => {
    const context = contextOf({ fingerprintKey: undefined });

    const explanation = await explained(sealedBy(OTHER_TEAM, updatePolicy("p1")), context);

    expect(explanation).toMatchObject({
      what: "a request of AWS account 111122223333, sealed by intake (seal not checked: no access to its key)",
      redrive: "runs it",
    });
  });

  test("is explained without a rights check if the rights are unknown", async () => {
    const explanation = await explained(updatePolicy("p1"), contextOf({ access: undefined }));

    expect(explanation).toMatchObject({
      redrive: "runs it, if its sender has the right: rights are checked only with --accounts",
      advice: "redrive",
    });
    expect(explanation).not.toHaveProperty("lane");
  });

  test("is never sent back if it is older than the ledger's retention and has no time", async () => {
    const explanation = await explained(updatePolicy("p1"), contextOf(), {
      arrivedAt: NOW - 31 * DAY_MS,
    });

    expect(explanation).toMatchObject({
      mayRunTwice: true,
      advice: "mend",
      deletingLoses: "command",
      redrive:
        "could run it a second time, so it is not sent back; if it is still needed, send a new command",
    });
  });
});

describe("a request that would be rejected", () => {
  const old = requestOf(
    "p1",
    { operation: "update-policy", params: { project_id: 1, region_id: 2, policy_id: 1 }, body: {} },
    { time: "2025-12-01T00:00:00Z" },
  );
  const policy = updatePolicy("p1");

  test.each([
    {
      case: "it is too old",
      body: { ...old, data: policy.data },
      reason: "too-old",
      rule: "must be at most 30 days ago; to run an older request, send it again with a new time",
    },
    {
      case: "its deadline has passed",
      body: { ...policy, data: { ...policy.data, deadline: "2026-01-31T11:00:00Z" } },
      reason: "too-late",
      rule: "must be in the future",
    },
    {
      case: "a field has a wrong value",
      body: updatePolicy("p1", { status: "asleep" }),
      reason: "invalid",
      rule: "one of active, paused",
    },
  ])(
    "because $case says why, and that its sender gets an event",
    async ({ body, reason, rule }) => {
      const explanation = await explained(body);

      expect(explanation).toMatchObject({
        kind: "request",
        commandId: "p1",
        reason,
        problems: [{ rule }],
        standing: "not in the ledger: never accepted",
        redrive: `rejects it (${reason}), and publishes CommandRejected`,
        advice: "redrive",
        deletingLoses: "rejection",
      });
    },
  );

  test("for lack of a right needs that right before a redrive", async () => {
    const context = contextOf({}, createMemoryLedger(), shared());

    const explanation = await explained(sealedBy(OTHER_TEAM, updatePolicy("p1")), context);

    expect(explanation).toMatchObject({
      reason: "not-allowed",
      advice: "mend",
      deletingLoses: "command",
    });
  });

  test("but has no id should be deleted, because no event is possible", async () => {
    const explanation = await explained({ data: { operation: "update-policy" } });

    expect(explanation).toMatchObject({
      kind: "request",
      redrive: "rejects it (invalid); no CommandRejected event is possible, because it has no id",
      advice: "delete",
      deletingLoses: "nothing",
    });
  });

  test("because another command has its id reports the state of that command", async () => {
    const ledger = await ledgerWith(updatePolicy("p1"), { state: goingOn });

    const explanation = await explained(
      updatePolicy("p1", { status: "active" }),
      contextOf({}, ledger),
    );

    expect(explanation).toMatchObject({
      reason: "id-reused",
      status: "waiting",
      standing:
        "a command with its id is in the ledger: waiting, accepted 2026-01-29T12:00:00Z; continues by itself, deadline 2026-02-01T12:00:00Z",
      advice: "redrive",
      deletingLoses: "rejection",
    });
  });
});

describe("a message that is not a request", () => {
  test.each([
    { case: "no JSON", body: "{", what: "an unreadable message: not JSON" },
    { case: "a list", body: "[1]", what: "an unreadable message: JSON, but not an object" },
  ])("but $case should be deleted", async ({ body, what }) => {
    expect(await explained(body)).toMatchObject({
      kind: "unreadable",
      what,
      advice: "delete",
      deletingLoses: "nothing",
    });
  });

  test("but has an invalid seal is distinguished from a sealed one", async () => {
    const body = sealedBy(OTHER_TEAM, updatePolicy("p1"), "another key");

    expect(await explained(body)).toMatchObject({
      kind: "forged",
      what: "a request with an invalid seal, in the name of AWS account 111122223333",
      advice: "delete",
    });
  });
});

test("a ledger that does not answer is not taken for an unreadable item", async () => {
  const ledger: Ledger = {
    ...createMemoryLedger(),
    read: () => Promise.reject(new Error("not reached")),
  };

  await expect(explained(updatePolicy("p1"), contextOf({}, ledger))).rejects.toThrow("not reached");
});
