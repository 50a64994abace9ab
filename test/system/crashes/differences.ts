import type { FaultKind } from "../../support/faults.ts";
import type { Snapshot } from "./snapshot.ts";

/** One call of a port that goes wrong. */
export interface Fault {
  /** From 1, over all sandboxes. */
  readonly nth: number;
  readonly kind: FaultKind;
  /** The call's name. */
  readonly call: string;
}

/** Where the end may be another one than that of the undisturbed course, and why. */
export interface Difference {
  /** Of the path of what is different. */
  readonly facts: RegExp;
  /** `more` and `fewer` are of numbers, and none is 0; `other` is anything, but for what is given. */
  readonly how: "fewer" | "missing" | "more" | "other" | { readonly becomes: string };
  /** Of what went wrong: its kind and the call, such as `killed after fetch PATCH /…`. */
  readonly after: RegExp;
  readonly because: string;
}

/** One fact in both ends; undefined where it is in one only. */
interface Change {
  readonly path: string;
  readonly undisturbed: string | undefined;
  readonly disturbed: string | undefined;
}

const changesBetween = (undisturbed: Snapshot, disturbed: Snapshot): readonly Change[] =>
  [...new Set([...undisturbed.keys(), ...disturbed.keys()])]
    .map((path) => ({
      path,
      undisturbed: undisturbed.get(path),
      disturbed: disturbed.get(path),
    }))
    .filter((change) => change.undisturbed !== change.disturbed);

const fits = ({ how }: Difference, { undisturbed, disturbed }: Change): boolean => {
  const more = Number(disturbed ?? 0) - Number(undisturbed ?? 0);
  switch (how) {
    case "fewer":
      return more < 0;
    case "missing":
      return disturbed === undefined;
    case "more":
      return more > 0;
    case "other":
      return true;
    default:
      return disturbed === how.becomes;
  }
};

/**
 * What is different without anybody having said that it may be.
 * @param used is given each difference that was named and found
 */
export const unexplained = (
  ends: { readonly undisturbed: Snapshot; readonly disturbed: Snapshot },
  faults: readonly Fault[],
  named: readonly Difference[],
  used: (difference: Difference) => void,
): readonly string[] =>
  changesBetween(ends.undisturbed, ends.disturbed).flatMap((change) => {
    const explanation = named.find(
      (difference) =>
        difference.facts.test(change.path) &&
        faults.some(({ kind, call }) => difference.after.test(`${kind} ${call}`)) &&
        fits(difference, change),
    );
    if (explanation) used(explanation);
    return explanation
      ? []
      : [`${change.path}: ${change.disturbed}, undisturbed: ${change.undisturbed}`];
  });
