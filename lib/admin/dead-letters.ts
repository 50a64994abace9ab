import type { DeadLetters, HeldDeadLetter } from "../platform/ports/dead-letters.ts";
import type { DeadLetterList, DeadLetterOutcome, Explanation } from "./answers.ts";
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

  return {
    async hold() {
      const held = await Promise.all(
        all.map(async (each) => {
          const letters = await each.hold();
          for (const letter of letters) holders.set(letter, each);
          return letters;
        }),
      );
      return held.flat();
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

/** `all`: each dead letter for which a redrive is recommended. */
export type Selection =
  | { readonly kind: "all" }
  | { readonly ids: readonly string[]; readonly kind: "ids" };

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

/** Processes each selected dead letter separately, so that a failure does not stop the others. */
const processEach = async (
  { deadLetters, context }: DeadLetterDeps,
  selection: Selection,
  act: (letter: HeldDeadLetter, explanation: Explanation) => Promise<Outcome>,
): Promise<readonly DeadLetterOutcome[]> => {
  const outcomes: DeadLetterOutcome[] = [];
  const wanted = selection.kind === "ids" ? new Set(selection.ids) : undefined;
  const explainAndAct = async (letter: HeldDeadLetter): Promise<Outcome> => {
    const explanation = await explain(letter, context());
    return { what: explanation.what, ...(await act(letter, explanation)) };
  };
  const visit = async (letter: HeldDeadLetter) => {
    const { messageId } = letter;
    if (wanted && !wanted.delete(messageId)) return "kept";
    const done = await explainAndAct(letter).catch(
      (error: unknown): Outcome => ({ outcome: "failed", why: errorName(error) }),
    );
    outcomes.push({ messageId, ...done });
    return done.outcome === "sent-back" || done.outcome === "deleted" ? "gone" : "kept";
  };
  await walk(deadLetters, visit, (kept) => wanted?.size === 0 || kept >= MAX_KEPT);
  const missing = [...(wanted ?? [])].map((messageId) => ({ messageId, ...NOT_FOUND }));
  return [...outcomes, ...missing];
};

const NOT_FOUND = {
  outcome: "not-found",
  why: "not among the messages that can be received now",
} as const;

const errorName = (error: unknown): string => (error instanceof Error ? error.name : String(error));

/** Sends dead letters back into their queues. */
export const redriveDeadLetters = (
  deps: DeadLetterDeps,
  selection: Selection,
): Promise<readonly DeadLetterOutcome[]> =>
  processEach(deps, selection, async (letter, { advice, standing, mayRunTwice, redrive }) => {
    if (mayRunTwice) return { outcome: "kept", why: redrive };
    if (selection.kind === "all" && advice !== "redrive") return { outcome: "kept", why: standing };
    const sent = await deps.deadLetters.sendBack(letter);
    if (sent.kind === "gone") return NOT_FOUND;
    return { outcome: sent.kind, why: sent.kind === "sent-back" ? redrive : sent.why };
  });

/** Deletes dead letters; `isForced`: also those whose deletion loses a command. */
export const deleteDeadLetters = (
  deps: DeadLetterDeps,
  ids: readonly string[],
  isForced: boolean,
): Promise<readonly DeadLetterOutcome[]> =>
  processEach(deps, { kind: "ids", ids }, async (letter, { deletingLoses, standing }) => {
    if (deletingLoses === "command" && !isForced) {
      return {
        outcome: "kept",
        why: `deleting it would lose a command; add --force to delete it anyway; ${standing}`,
      };
    }
    const removed = await deps.deadLetters.remove(letter);
    return removed === "gone" ? NOT_FOUND : { outcome: "deleted" };
  });
