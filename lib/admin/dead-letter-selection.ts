import * as z from "zod";
import { isoText } from "../events/event.ts";
import type { HeldDeadLetter } from "../platform/ports/dead-letters.ts";
import type { Explanation } from "./answers.ts";

/** Selects dead letters for a bulk action; an absent field accepts everything. */
export const deadLetterFilterSchema = z
  .strictObject({
    queue: z.enum(["commands", "requests"]).optional(),
    /** Its `diagnosis`, such as `lane-full` or `runnable`. */
    reason: z.string().optional(),
    /** Instants in ISO 8601: arrived at or after, and at or before. */
    since: z.iso.datetime().optional(),
    until: z.iso.datetime().optional(),
  })
  .refine(
    ({ queue, reason, since }) =>
      queue !== undefined || reason !== undefined || since !== undefined,
    { error: "needs at least one of queue, reason, since" },
  );

export type DeadLetterFilter = z.output<typeof deadLetterFilterSchema>;

/** `all` and `matching`: each dead letter, or each that matches, for which the action is recommended. */
export type Selection =
  | { readonly kind: "all" }
  | { readonly kind: "ids"; readonly ids: readonly string[] }
  | { readonly kind: "matching"; readonly filter: DeadLetterFilter };

/** `all` would delete what an operator has not seen. */
export type DeleteSelection = Exclude<Selection, { kind: "all" }>;

/** Whether a dead letter is selected, first by its message alone, then also by its explanation. */
export const chooserOf = (selection: Selection, now: number) => {
  const filter = selection.kind === "matching" ? selection.filter : undefined;
  const since = filter?.since === undefined ? -Infinity : Date.parse(filter.since);
  // What arrives during the action waits for the next one.
  const until = filter?.until === undefined ? now : Date.parse(filter.until);
  return {
    mayFit: ({ queue, arrivedAt }: HeldDeadLetter): boolean =>
      filter === undefined ||
      ((filter.queue ?? queue) === queue && arrivedAt >= since && arrivedAt <= until),
    fits: ({ diagnosis }: Explanation): boolean => (filter?.reason ?? diagnosis) === diagnosis,
    until: isoText(until),
  };
};
