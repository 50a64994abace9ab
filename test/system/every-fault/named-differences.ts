import type { Difference } from "./differences.ts";

/** Faults between the intent of a send and the record of its result. */
export const AROUND_A_SEND =
  /fetch (?:PATCH|POST|PUT)|^(?:killed (?:before|after)|write (?:fails|answer lost)) ledger\.write command#|^killed (?:before|after) ledger\.write task#\S+ #1$|^killed (?:before|after) (?:fetch GET|secrets|ledger\.(?:read|write) budget#)/;

/** Effects of a lost reply: the command is sent again, and reports that. */
export const sentAgain = (after: RegExp): readonly Difference[] => [
  {
    facts: /^(?:ledger > command#.* > attemptCount|events > Command.* > attempts)$/,
    how: "more",
    after,
    because: "the outcome of the first send is unknown, so the command is sent again",
  },
  {
    facts: /^ledger > command#.* > lostReplies$/,
    how: "more",
    after,
    because: "a lost reply is counted",
  },
  {
    facts: /^events > Command.* > lostReplies$/,
    how: "more",
    after,
    because: "the end reports that a reply was lost",
  },
  {
    facts:
      /^ledger > command#.* > attempts > \d+ > (?:startedAt|endedAt|disposition|code|status|message)$/,
    how: "other",
    after,
    because: "each attempt is recorded with its end as far as it was seen",
  },
];

export const SENT_AGAIN = sentAgain(AROUND_A_SEND);

/** A rejection leaves no state that a second one could find. */
export const COUNTED_AGAIN: Difference = {
  facts: /^counted > CommandEnded rejected$/,
  how: "more",
  after: /^(?:acknowledgement lost|comes twice|event twice) /,
  because: "the same rejection is published again, and counted with its publication",
};

/** The function that wrote an end counts it, after the write has answered. */
export const uncounted = (after: RegExp): Difference => ({
  facts: /^counted > /,
  how: "fewer",
  after,
  because: "a function without an answer to its write does not count, and no other function may",
});

/** The write may also be on its way while the same function is killed at a call for the lane. */
export const UNCOUNTED = uncounted(
  /^(?:(?:killed after|write answer lost) ledger\.write command#|killed after ledger\.(?:read|write) lane#)/,
);

/**
 * Operations that a second request cannot do again: its refusal shows that the first one took effect.
 */
export const doneBefore = (after: RegExp): Difference => ({
  facts: /^events > CommandSucceeded .* > data > result > /,
  how: "missing",
  after,
  because: "the reply with the result was lost, and the refusal of the second send has none",
});

export const DONE_BEFORE = doneBefore(AROUND_A_SEND);

/** The provider starts a second task for a change that the first request made already. */
export const ONE_MORE_TASK: Difference = {
  facts: /^provider > tasks > new: .*"task_type":"patch_caas_container"/,
  how: "more",
  after: AROUND_A_SEND,
  because: "a second task repeats the update of the first one, which the command does not know",
};

/** The function died before it wrote the command. */
export const TASK_WITHOUT_COMMAND: Difference = {
  facts: /^ledger > task#/,
  how: "other",
  after: /^killed after ledger\.write task#\S+ #1$/,
  because: "the task of the first send has an item, and its command does not follow it",
};

/** An update with nothing left to do after a lost reply may have been done by the lost request. */
export const MAY_BE_DONE: Difference = {
  facts: /^(?:ledger > command#.* > state|events > CommandSucceeded .* > data) > outcome$/,
  how: { becomes: '"done"' },
  after: AROUND_A_SEND,
  because: "the first send may have done it",
};

/** An update without a change starts no task. */
export const NOTHING_LEFT_TO_DO: readonly Difference[] = [
  {
    facts:
      /^ledger > (?:command#.* > state > tasks|task#).* > |^events > (?:TaskFinished|CommandSucceeded .* > taskIds)/,
    how: "missing",
    after: AROUND_A_SEND,
    because:
      "the command does not know the task of the first send, and the second send starts none",
  },
  {
    facts: /^ledger > command#.* > state > tasks$|^events > CommandSucceeded .* > taskIds$/,
    how: { becomes: "[]" },
    after: AROUND_A_SEND,
    because:
      "the command does not know the task of the first send, and the second send starts none",
  },
  {
    facts: /^order > of /,
    how: { becomes: "CommandAccepted, CommandSucceeded" },
    after: AROUND_A_SEND,
    because: "no event reports an unknown task",
  },
];

/** The reply with the task was lost, and the task locks the resource beyond the deadline. */
export const STILL_AT_WORK: readonly Difference[] = [
  {
    facts: /^(?:ledger > command#.* > state|events > CommandFailed .* > data) > reason$/,
    how: { becomes: '"unknown-outcome"' },
    after: AROUND_A_SEND,
    because: "the effect of the request is unknown until its task ends, which is too late",
  },
  {
    facts: /^(?:ledger > command#.* > state|events > CommandFailed .* > data) > problems > 0 > /,
    how: "other",
    after: AROUND_A_SEND,
    because: "the problem reports the unknown outcome",
  },
  {
    facts:
      /^ledger > (?:command#.* > state > tasks > |task#)|^events > CommandFailed .* > taskIds > /,
    how: "missing",
    after: AROUND_A_SEND,
    because: "the command does not know the task",
  },
  {
    facts: /^(?:ledger > command#.* > state > tasks|events > CommandFailed .* > taskIds)$/,
    how: { becomes: "[]" },
    after: AROUND_A_SEND,
    because: "the command does not know the task",
  },
  {
    facts: /^counted > UnknownOutcome$/,
    how: "more",
    after: AROUND_A_SEND,
    because: "an operator has to look into it",
  },
  {
    facts: /^counted > TaskPastDeadline$/,
    how: "fewer",
    after: AROUND_A_SEND,
    because: "no task was followed",
  },
];
