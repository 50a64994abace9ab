import { describe, expect, test } from "vitest";
import { type Difference, type Fault, unexplained } from "./differences.ts";

const FAULT: Fault = { place: "fetch PATCH /policy #1", kind: "killed after" };
const undisturbed = new Map([
  ["events > CommandSucceeded c1", "1"],
  ["ledger > command#c1 > attemptCount", "1"],
]);

const outcomeOf = (disturbed: ReadonlyMap<string, string>, ...named: readonly Difference[]) => {
  const used: string[] = [];
  const note = ({ because }: Difference) => void used.push(because);
  return { wrong: unexplained({ undisturbed, disturbed }, [FAULT], named, note), used };
};

const moreAttempts: Difference = {
  facts: /attemptCount$/,
  how: "more",
  after: /fetch PATCH/,
  because: "sent again",
};
const sentTwice = new Map([...undisturbed, ["ledger > command#c1 > attemptCount", "2"]]);

describe("the end of a disturbed scenario", () => {
  test("is right if it equals the undisturbed end", () => {
    expect(outcomeOf(new Map(undisturbed), moreAttempts)).toEqual({ wrong: [], used: [] });
  });

  test("may differ where a rule permits it", () => {
    expect(outcomeOf(sentTwice, moreAttempts)).toEqual({ wrong: [], used: ["sent again"] });
  });

  test.each<[string, Partial<Difference>]>([
    ["for another fact", { facts: /lostReplies$/ }],
    ["in the other direction", { how: "fewer" }],
    ["to another value", { how: { becomes: "3" } }],
    ["after another fault", { after: /^publish fails/ }],
  ])("is wrong where the rule is %s", (_what, other) => {
    expect(outcomeOf(sentTwice, { ...moreAttempts, ...other })).toEqual({
      wrong: ["ledger > command#c1 > attemptCount: 2, undisturbed: 1"],
      used: [],
    });
  });

  test("is wrong if a fact is missing or added", () => {
    const other = new Map([
      ["events > CommandFailed c1", "1"],
      ["ledger > command#c1 > attemptCount", "1"],
    ]);

    expect(outcomeOf(other).wrong).toEqual([
      "events > CommandSucceeded c1: undefined, undisturbed: 1",
      "events > CommandFailed c1: 1, undisturbed: undefined",
    ]);
  });
});
