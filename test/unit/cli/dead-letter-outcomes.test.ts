import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { DeadLetterOutcome } from "../../../lib/admin/answers.ts";
import type { DeadLetterAdmin } from "../../../lib/cli/admin/client.ts";
import { redrive } from "../../../lib/cli/commands/dead-letter-actions.ts";
import { deadLettersText } from "../../../lib/cli/commands/dead-letters.ts";

beforeEach(() => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** An admin client whose every action has these outcomes. */
const adminOf = (...outcomes: readonly DeadLetterOutcome["outcome"][]): DeadLetterAdmin => {
  const letters = outcomes.map((outcome, at) => ({ messageId: `m${at}`, outcome }));
  return {
    list: async () => ({ deadLetters: [], more: 0 }),
    redrive: async () => letters,
    remove: async () => letters,
    previewRedrive: async () => ({ outcomes: letters, until: "" }),
    previewRemove: async () => ({ outcomes: letters, until: "" }),
  };
};

test.each([
  ["all are sent back", ["sent-back"], 0, 0],
  ["one is kept", ["sent-back", "kept"], 0, 2],
  ["one is not there", ["not-found"], 0, 2],
  ["one fails", ["sent-back", "failed"], 1, 1],
  ["one is in both queues", ["sent-back", "in-both"], 1, 1],
] as const)("the exit status shows that %s", async (_what, outcomes, ofAll, ofNamed) => {
  const admin = adminOf(...outcomes);

  expect(await redrive(admin, { kind: "all" }, {})).toBe(ofAll);
  expect(await redrive(admin, { kind: "ids", ids: ["m0", "m1"] }, {})).toBe(ofNamed);
});

test("dead letters above the limit are counted, with every possible reason", () => {
  expect(deadLettersText({ deadLetters: [], more: 32 })).toBe(
    "about 32 more: above the limit of 100, behind these in their groups, or held by another reader for up to a minute",
  );
});
