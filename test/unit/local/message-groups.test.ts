import { expect, test } from "vitest";
import { createMessageGroups } from "../../../lib/local/message-groups.ts";

const MESSAGES = 4_000;
const AT_ONCE = 10;

/** Hands out all messages, ten at a time, and returns the number of times that any was looked at. */
const looksToHandOut = (groupOf: (index: number) => string, lookAhead: number): number => {
  let looks = 0;
  const groups = createMessageGroups(lookAhead);
  const sequences: string[] = [];
  for (let index = 0; index < MESSAGES; index += 1) {
    const sequence = String(index).padStart(20, "0");
    const counted = {
      groupId: groupOf(index),
      get sequence() {
        looks += 1;
        return sequence;
      },
    };
    groups.add(counted);
  }
  while (groups.size() > 0) {
    let wanted = AT_ONCE;
    const { places } = groups.take(60_000, () => {
      wanted -= 1;
      return wanted >= 0;
    });
    expect(places).toHaveLength(AT_ONCE);
    for (const place of places) {
      sequences.push(place.message.sequence);
      groups.remove(place);
    }
  }
  expect(sequences).toEqual([...sequences].sort());
  return looks;
};

test.each([
  { name: "each in a group of its own", groupOf: String, lookAhead: Number.POSITIVE_INFINITY },
  { name: "all in one group", groupOf: () => "group", lookAhead: Number.POSITIVE_INFINITY },
  { name: "behind the look-ahead", groupOf: String, lookAhead: 100 },
])("looks at a message a logarithmic number of times: $name", ({ groupOf, lookAhead }) => {
  const looks = looksToHandOut(groupOf, lookAhead);

  expect(looks / MESSAGES).toBeLessThanOrEqual(5 * Math.log2(MESSAGES));
});
