import type { EventBus, PublishOutcome } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";

/** Pause before the second attempt, at most; before each further one up to twice as long. A limit holds for a second. */
const PAUSE_MS = 1_000;
const MAX_ATTEMPTS = 4;

const isThrottled = (outcome: PublishOutcome | undefined): boolean =>
  outcome?.kind === "failed" && outcome.code === "ThrottlingException";

/**
 * A bus that publishes throttled entries again after a random pause, four attempts in all. PutEvents takes each entry
 * or throttles it by itself, and its client repeats a call only if the whole call failed:
 * https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html
 */
export const repeatThrottled = (
  bus: EventBus,
  { clock, random }: { readonly clock: Pick<Clock, "sleep">; readonly random: Random },
): EventBus => ({
  async publish(entries) {
    const outcomes = [...(await bus.publish(entries))];
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
      const left = [...outcomes.keys()].filter((index) => isThrottled(outcomes[index]));
      if (left.length === 0) break;
      await clock.sleep(Math.floor(random.fraction() * PAUSE_MS * 2 ** (attempt - 1)));
      const again = await bus.publish(left.flatMap((index) => entries[index] ?? []));
      for (const [at, index] of left.entries()) {
        const outcome = again[at];
        if (outcome) outcomes[index] = outcome;
      }
    }
    return outcomes;
  },
});
