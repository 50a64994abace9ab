import type { Strike } from "../simulation/engine/faults.ts";
import type { Snapshot } from "./snapshot.ts";

/** A fault at one place. */
export type Fault = Pick<Strike, "place" | "kind">;

/** A permitted difference from the undisturbed end, with its reason. */
export interface Difference {
  /** Paths of the facts that may differ. */
  readonly facts: RegExp;
  /** `more` and `fewer` compare numbers, and absence is 0; `other` is any other value. */
  readonly how: "fewer" | "missing" | "more" | "other" | { readonly becomes: string };
  /** Faults that permit it: kind and place, such as `killed after fetch PATCH /… #1`. */
  readonly after: RegExp;
  readonly because: string;
}

/** One fact of both ends; undefined where it is absent. */
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
 * The differences that no rule permits.
 * @param used gets each rule that applied
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
        faults.some(({ place, kind }) => difference.after.test(`${kind} ${place}`)) &&
        fits(difference, change),
    );
    if (explanation) used(explanation);
    return explanation
      ? []
      : [`${change.path}: ${change.disturbed}, undisturbed: ${change.undisturbed}`];
  });
