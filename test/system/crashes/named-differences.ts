import type { Difference } from "./differences.ts";

/** What goes wrong between the intent of a send and the record of what came of it. */
export const AROUND_A_SEND =
  /fetch (?:PATCH|POST|PUT)|^(?:killed|fails) after ledger\.write command#|^(?:killed|fails before) ledger\.write command#|^killed(?: after)? (?:fetch GET|secrets|ledger\.(?:read|write) budget#)/;

/** A command whose reply was lost is sent again, and says so. */
export const sentAgain = (after: RegExp): readonly Difference[] => [
  {
    facts: /^(?:ledger > command#.* > attemptCount|events > Command.* > attempts)$/,
    how: "more",
    after,
    because: "nobody knows what became of the first send, so there is another",
  },
  {
    facts: /^ledger > command#.* > lostReplies$/,
    how: "more",
    after,
    because: "a reply that was lost is counted",
  },
  {
    facts: /^events > Command.* > lostReplies$/,
    how: "more",
    after,
    because: "whoever waits for the end is told that a reply was lost",
  },
  {
    facts:
      /^ledger > command#.* > attempts > \d+ > (?:startedAt|endedAt|disposition|code|status|message)$/,
    how: "other",
    after,
    because: "each attempt is recorded with how it ended, as far as anybody saw that",
  },
];

export const SENT_AGAIN = sentAgain(AROUND_A_SEND);

/** A rejection changes nothing that a second one could find. */
export const COUNTED_AGAIN: Difference = {
  facts: /^counted > CommandEnded rejected$/,
  how: "more",
  after: /^killed .*acknowledge$/,
  because: "the same rejection is told again, and counted where it is told",
};

/** Ends are counted by whose write it is, once it has answered. */
export const uncounted = (after: RegExp): Difference => ({
  facts: /^counted > /,
  how: "fewer",
  after,
  because: "whoever learns nothing of its write counts nothing, and no other may count for it",
});

export const UNCOUNTED = uncounted(/^(?:killed|fails) after ledger\.write command#/);

/** Operations that cannot be done twice: the second send is refused, which shows that the first one was done. */
export const DONE_BEFORE: Difference = {
  facts: /^events > CommandSucceeded .* > data > result > /,
  how: "missing",
  after: AROUND_A_SEND,
  because: "the reply that held the result was lost, and the refusal of the second send has none",
};

/** The provider begins to work once more, at what the first send has made so already. */
export const ONE_MORE_TASK: Difference = {
  facts: /^provider > tasks > new: .*"task_type":"patch_caas_container"/,
  how: "more",
  after: AROUND_A_SEND,
  because:
    "a container is updated by a second task to what it is by the first, of which nobody knows",
};

/** What finds nothing to do after a lost reply may have done it then. */
export const MAY_BE_DONE: Difference = {
  facts: /^(?:ledger > command#.* > state|events > CommandSucceeded .* > data) > outcome$/,
  how: { becomes: '"done"' },
  after: AROUND_A_SEND,
  because: "whether the first send has done it, nobody can tell",
};

/** An update that finds everything as it wants it makes no task. */
export const NOTHING_LEFT_TO_DO: readonly Difference[] = [
  {
    facts:
      /^ledger > (?:command#.* > state > tasks|task#).* > |^events > (?:TaskFinished|CommandSucceeded .* > taskIds)/,
    how: "missing",
    after: AROUND_A_SEND,
    because: "the task of the first send is known to nobody, and the second has none",
  },
  {
    facts: /^ledger > command#.* > state > tasks$|^events > CommandSucceeded .* > taskIds$/,
    how: { becomes: "[]" },
    after: AROUND_A_SEND,
    because: "the task of the first send is known to nobody, and the second has none",
  },
  {
    facts: /^order > of /,
    how: { becomes: "CommandAccepted, CommandSucceeded" },
    after: AROUND_A_SEND,
    because: "nobody is told of a task that nobody knows",
  },
];

/** The reply that named the task was lost, and the task keeps the resource locked beyond the deadline. */
export const STILL_AT_WORK: readonly Difference[] = [
  {
    facts: /^(?:ledger > command#.* > state|events > CommandFailed .* > data) > reason$/,
    how: { becomes: '"unknown-outcome"' },
    after: AROUND_A_SEND,
    because: "whether the request was done cannot be told until its task ends, which is too late",
  },
  {
    facts: /^(?:ledger > command#.* > state|events > CommandFailed .* > data) > problems > 0 > /,
    how: "other",
    after: AROUND_A_SEND,
    because: "the problem is that of an unknown outcome",
  },
  {
    facts:
      /^ledger > (?:command#.* > state > tasks > |task#)|^events > CommandFailed .* > taskIds > /,
    how: "missing",
    after: AROUND_A_SEND,
    because: "the task is known to nobody",
  },
  {
    facts: /^(?:ledger > command#.* > state > tasks|events > CommandFailed .* > taskIds)$/,
    how: { becomes: "[]" },
    after: AROUND_A_SEND,
    because: "the task is known to nobody",
  },
  {
    facts: /^counted > UnknownOutcome$/,
    how: "more",
    after: AROUND_A_SEND,
    because: "a person is to look into it",
  },
  {
    facts: /^counted > TaskPastDeadline$/,
    how: "fewer",
    after: AROUND_A_SEND,
    because: "no task was followed",
  },
];
