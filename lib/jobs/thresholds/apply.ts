import pLimit from "p-limit";
import { ProviderError } from "../../provider/provider-error.ts";
import { isUnclear, makeChange, type SendOptions } from "./make-change.ts";
import type { Change } from "./plan.ts";

type Outcome =
  /** `action` is what was done, an update where somebody had been faster. */
  | { readonly outcome: "done"; readonly action: Change["action"] }
  /** Clearly refused. */
  | { readonly outcome: "failed"; readonly problem: string }
  /** Not begun, or its replies were lost: the next run does it, or finds it done. */
  | { readonly outcome: "left"; readonly problem?: string };

/** What became of a change. */
export type AppliedChange = Outcome & {
  readonly change: Change;
  /** Whether a request of it got no clear answer: it may take effect later than it seems. */
  readonly isOpen: boolean;
};

const MAX_AT_ONCE = 8;
/** So many changes in a row without a clear answer are not the changes' fault. */
const MAX_UNCLEAR_IN_A_ROW = 3;

/**
 * Makes the changes side by side. One that is refused stops no other; when the provider cannot be
 * reached, those that have not begun stay for the next run. No change is begun after `endsAt`.
 */
export const applyChanges = async (
  changes: readonly Change[],
  options: SendOptions,
): Promise<readonly AppliedChange[]> => {
  let isStopped = false;
  let unclearInARow = 0;

  const failed = (error: ProviderError): Outcome => {
    const problem = error.message;
    if (error.disposition === "permanent") return { outcome: "failed", problem };
    unclearInARow += 1;
    // An unreachable provider or a lost lease stops all changes; one that is never answered does not.
    isStopped ||= !isUnclear(error) || unclearInARow >= MAX_UNCLEAR_IN_A_ROW;
    return { outcome: "left", problem };
  };

  const apply = async (change: Change): Promise<AppliedChange> => {
    isStopped ||= options.clock.now() >= options.endsAt || options.signal.aborted;
    let isOpen = false;
    const noteUnclear = (): void => {
      isOpen = true;
    };
    if (isStopped) return { change, isOpen, outcome: "left" };
    try {
      const action = await makeChange(options, change, noteUnclear);
      unclearInARow = 0;
      return { change, isOpen, outcome: "done", action };
    } catch (error) {
      if (error instanceof ProviderError) return { change, isOpen, ...failed(error) };
      throw error;
    }
  };

  const limit = pLimit(MAX_AT_ONCE);
  // All of them end before anything is thrown: nothing may go on behind the caller's back.
  const ends = await Promise.allSettled(changes.map((change) => limit(() => apply(change))));
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
};
