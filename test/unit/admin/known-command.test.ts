import { describe, expect, test } from "vitest";
import { resumeMessage } from "../../../lib/engine/queue-message.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { updatePolicy } from "../../support/requests.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import {
  contextOf,
  DAY_MS,
  explained,
  failed,
  goingOn,
  ledgerWith,
  NOW,
} from "./sample-dead-letters.ts";

const resume = (command: string): string =>
  resumeMessage(command, "local/policy/1", createSeededRandom()).body;

describe("a request whose command is in the ledger", () => {
  test("and open needs no action", async () => {
    const ledger = await ledgerWith(updatePolicy("p1"), { state: goingOn });

    const explanation = await explained(updatePolicy("p1"), contextOf({}, ledger));

    expect(explanation).toMatchObject({
      status: "waiting",
      standing:
        "in the ledger: waiting, accepted 2026-01-29T12:00:00Z; continues by itself, deadline 2026-02-01T12:00:00Z",
      redrive: "changes nothing",
      advice: "delete",
      deletingLoses: "nothing",
    });
  });

  test("and ended should be deleted, and shows its end", async () => {
    const ledger = await ledgerWith(updatePolicy("p1"), { state: failed });

    const explanation = await explained(updatePolicy("p1"), contextOf({}, ledger));

    expect(explanation).toMatchObject({
      status: "failed",
      endedAt: "2026-01-30T12:00:00.000Z",
      standing: "in the ledger: ended 2026-01-30T12:00:00Z as failed (task-failed)",
      redrive: "changes nothing",
      advice: "delete",
      deletingLoses: "nothing",
    });
  });

  test("is not compared with it if the admin client has no key", async () => {
    const ledger = await ledgerWith(updatePolicy("p1"), { state: failed });
    const context = contextOf({ fingerprintKey: undefined }, ledger);

    const explanation = await explained(updatePolicy("p1"), context);

    expect(explanation.standing).toBe(
      "in the ledger: ended 2026-01-30T12:00:00Z as failed (task-failed); payload not compared",
    );
  });

  test("is recognized after the maximum age of a new request", async () => {
    const ledger = await ledgerWith(updatePolicy("p1"), { state: failed });

    const explanation = await explained(updatePolicy("p1"), contextOf({}, ledger), {
      arrivedAt: NOW - 31 * DAY_MS,
    });

    expect(explanation).toMatchObject({ mayRunTwice: false, redrive: "changes nothing" });
  });

  test("in an unreadable item waits for a version that can read it", async () => {
    const ledger = createMemoryLedger();
    await ledger.write({ key: "command#own/p1", version: 1, value: { from: "a newer version" } });

    const explanation = await explained(updatePolicy("p1"), contextOf({}, ledger));

    expect(explanation).toMatchObject({
      standing: "its command's ledger item cannot be read by this version",
      redrive: "fails again, until a version that can read the item is deployed",
      advice: "mend",
      deletingLoses: "command",
    });
  });
});

describe("Skyhook's own message to resume a command", () => {
  test.each([
    {
      case: "goes on",
      state: goingOn,
      standing: /^in the ledger: waiting, .* continues by itself/,
    },
    { case: "has ended", state: failed, standing: /^in the ledger: ended .* as failed/ },
  ])("with a command that $case changes nothing", async ({ state, standing }) => {
    const ledger = await ledgerWith(updatePolicy("p1"), { state });

    const explanation = await explained(resume("own/p1"), contextOf({}, ledger));

    expect(explanation).toMatchObject({
      kind: "resume",
      what: "Skyhook's own message: resume a command",
      sender: "own",
      commandId: "p1",
      operation: "update-policy",
      standing: expect.stringMatching(standing),
      redrive: "changes nothing",
      advice: "delete",
      deletingLoses: "nothing",
    });
  });

  test("for a deleted command changes nothing", async () => {
    expect(await explained(resume("own/gone"))).toMatchObject({
      kind: "resume",
      standing: "its command is not in the ledger; the ledger may have deleted it",
      redrive: "changes nothing",
      advice: "delete",
    });
  });
});
