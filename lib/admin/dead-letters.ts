import type { DeadLetters, HeldDeadLetter } from "../platform/ports/dead-letters.ts";
import type {
  DeadLetterList,
  DeadLetterOutcome,
  DeadLetterPreview,
  Explanation,
} from "./answers.ts";
import { chooserOf, type DeleteSelection, type Selection } from "./dead-letter-selection.ts";
import type { DiagnosisContext } from "./diagnosis.ts";
import { explain } from "./explanation.ts";

/** Joins several queues of dead letters; each dead letter stays in its queue. */
export const joinDeadLetters = (all: readonly DeadLetters[]): DeadLetters => {
  const holders = new WeakMap<HeldDeadLetter, DeadLetters>();

  const holderOf = (letter: HeldDeadLetter): DeadLetters => {
    const holder = holders.get(letter);
    if (!holder) throw new Error("the dead letter is not from a queue of this list");
    return holder;
  };

  /** Queues that had none at their last hold. SQS takes two seconds to say so. */
  const empty = new Set<DeadLetters>();

  const holdOf = async (queues: readonly DeadLetters[]): Promise<readonly HeldDeadLetter[]> => {
    const held = await Promise.all(
      queues.map(async (each) => {
        const letters = await each.hold();
        if (letters.length === 0) empty.add(each);
        for (const letter of letters) holders.set(letter, each);
        return letters;
      }),
    );
    return held.flat();
  };

  return {
    async hold() {
      const rest = all.filter((each) => !empty.has(each));
      const held = await holdOf(rest);
      if (held.length > 0 || rest.length === all.length) return held;
      empty.clear();
      return holdOf(all);
    },
    async release(letters) {
      await Promise.all(
        all.map((each) => each.release(letters.filter((letter) => holderOf(letter) === each))),
      );
    },
    async count() {
      const counts = await Promise.all(all.map((each) => each.count()));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    sendBack: (letter) => holderOf(letter).sendBack(letter),
    remove: (letter) => holderOf(letter).remove(letter),
  };
};

export interface DeadLetterDeps {
  readonly deadLetters: DeadLetters;
  /** The inputs of a diagnosis at this moment. */
  readonly context: () => DiagnosisContext;
}

/** Limit of held dead letters, because SQS hides them from other readers. */
const MAX_LISTED = 100;
/** Limit of kept dead letters, which stay held, because others to send back may follow them. */
const MAX_KEPT = 1_000;

/** Holds and visits dead letters until none is left or `isDone`. Releases the kept ones at the end. */
const walk = async (
  deadLetters: DeadLetters,
  visit: (letter: HeldDeadLetter) => Promise<"kept" | "gone">,
  isDone: (kept: number) => boolean,
): Promise<void> => {
  const kept: HeldDeadLetter[] = [];
  const seen = new Set<string>();
  try {
    while (!isDone(kept.length)) {
      const held = await deadLetters.hold();
      // A hold can expire and the same dead letter be held again: the newest hold counts.
      const fresh = held.filter(({ messageId }) => !seen.has(messageId));
      kept.push(...held);
      if (fresh.length === 0) return;
      for (const letter of fresh) {
        seen.add(letter.messageId);
        if ((await visit(letter)) === "gone") kept.splice(kept.indexOf(letter), 1);
      }
    }
  } finally {
    await deadLetters.release(kept);
  }
};

/** Explains at most a hundred dead letters, and releases all of them. */
export const listDeadLetters = async ({
  deadLetters,
  context,
}: DeadLetterDeps): Promise<DeadLetterList> => {
  const explained: Explanation[] = [];
  const visit = async (letter: HeldDeadLetter) => {
    explained.push(await explain(letter, context()));
    return "kept" as const;
  };
  await walk(deadLetters, visit, (kept) => kept >= MAX_LISTED);
  const count = await deadLetters.count();
  return { deadLetters: explained, more: Math.max(0, count - explained.length) };
};

type Outcome = Omit<DeadLetterOutcome, "messageId">;

const NOT_FOUND = {
  outcome: "not-found",
  why: "not among the messages that can be received now",
} as const;

const errorName = (error: unknown): string => (error instanceof Error ? error.name : String(error));

/** Processes each selected dead letter separately, so that a failure does not stop the others. */
const processEach = async (
  { deadLetters, context }: DeadLetterDeps,
  selection: Selection,
  act: (letter: HeldDeadLetter, explanation: Explanation) => Promise<Outcome>,
): Promise<DeadLetterPreview> => {
  const outcomes: DeadLetterOutcome[] = [];
  const wanted = selection.kind === "ids" ? new Set(selection.ids) : undefined;
  const { mayFit, fits, until } = chooserOf(selection, context().now);
  const explainAndAct = async (letter: HeldDeadLetter): Promise<Outcome | undefined> => {
    const explanation = await explain(letter, context());
    if (!fits(explanation)) return undefined;
    return { what: explanation.what, ...(await act(letter, explanation)) };
  };
  const visit = async (letter: HeldDeadLetter) => {
    const { messageId } = letter;
    if (!mayFit(letter) || (wanted && !wanted.delete(messageId))) return "kept";
    const done = await explainAndAct(letter).catch(
      (error: unknown): Outcome => ({ outcome: "failed", why: errorName(error) }),
    );
    if (!done) return "kept";
    outcomes.push({ messageId, ...done });
    return done.outcome === "sent-back" || done.outcome === "deleted" ? "gone" : "kept";
  };
  await walk(deadLetters, visit, (kept) => wanted?.size === 0 || kept >= MAX_KEPT);
  const missing = [...(wanted ?? [])].map((messageId) => ({ messageId, ...NOT_FOUND }));
  return { outcomes: [...outcomes, ...missing], until };
};

/** Why a redrive keeps a dead letter; undefined: it is sent back. Only an id selects against the advice. */
const keptByRedrive = (selection: Selection, explanation: Explanation): Outcome | undefined => {
  const { advice, standing, mayRunTwice, redrive } = explanation;
  if (mayRunTwice) return { outcome: "kept", why: redrive };
  return selection.kind === "ids" || advice === "redrive"
    ? undefined
    : { outcome: "kept", why: standing };
};

/** Sends dead letters back into their queues. */
export const redriveDeadLetters = async (
  deps: DeadLetterDeps,
  selection: Selection,
): Promise<readonly DeadLetterOutcome[]> => {
  const { outcomes } = await processEach(deps, selection, async (letter, explanation) => {
    const kept = keptByRedrive(selection, explanation);
    if (kept) return kept;
    const sent = await deps.deadLetters.sendBack(letter);
    if (sent.kind === "gone") return NOT_FOUND;
    return {
      outcome: sent.kind,
      why: sent.kind === "sent-back" ? explanation.redrive : sent.why,
    };
  });
  return outcomes;
};

/** What `redriveDeadLetters` would do. Changes no message; in SQS it hides the read ones for a minute. */
export const previewRedrive = (
  deps: DeadLetterDeps,
  selection: Selection,
): Promise<DeadLetterPreview> =>
  processEach(
    deps,
    selection,
    async (_, explanation) =>
      keptByRedrive(selection, explanation) ?? {
        outcome: "would-send-back",
        why: explanation.redrive,
      },
  );

const keptByDelete = (isForced: boolean, explanation: Explanation): Outcome | undefined =>
  explanation.deletingLoses === "command" && !isForced
    ? {
        outcome: "kept",
        why: `deleting it would lose a command; add --force to delete it anyway; ${explanation.standing}`,
      }
    : undefined;

/** Deletes dead letters; `isForced`: also if a command is lost with one. */
export const deleteDeadLetters = async (
  deps: DeadLetterDeps,
  selection: DeleteSelection,
  isForced: boolean,
): Promise<readonly DeadLetterOutcome[]> => {
  const { outcomes } = await processEach(deps, selection, async (letter, explanation) => {
    const kept = keptByDelete(isForced, explanation);
    if (kept) return kept;
    const removed = await deps.deadLetters.remove(letter);
    return removed === "gone" ? NOT_FOUND : { outcome: "deleted" };
  });
  return outcomes;
};

/** What `deleteDeadLetters` would do. As `previewRedrive`, it changes no message. */
export const previewDelete = (
  deps: DeadLetterDeps,
  selection: DeleteSelection,
  isForced: boolean,
): Promise<DeadLetterPreview> =>
  processEach(
    deps,
    selection,
    async (_, explanation) =>
      keptByDelete(isForced, explanation) ?? {
        outcome: "would-delete",
        why: explanation.standing,
      },
  );
