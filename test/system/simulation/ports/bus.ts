import type { BusEntry, EventBus, PublishOutcome } from "../../../../lib/platform/ports/bus.ts";
import { HANGS, type Sandbox } from "../cloud/sandbox.ts";
import type { Chance } from "../engine/chance.ts";

const KINDS = ["publish fails", "publish answer lost", "entries fail", ...HANGS];
const FAILED: PublishOutcome = { kind: "failed", code: "InternalFailure", message: "try again" };

/** The bus as a machine reaches it: PutEvents fails as a whole, per entry, or after its effect. */
export const hostileBus = (bus: EventBus, sandbox: Sandbox, chance: Chance): EventBus => ({
  publish: (entries) =>
    sandbox
      .call("bus.publish", KINDS, async (kind, place) => {
        if (kind === "publish fails") return entries.map(() => FAILED);
        if (kind !== "entries fail") {
          const outcomes = await bus.publish(entries);
          return kind === "publish answer lost" ? entries.map(() => FAILED) : outcomes;
        }
        const isTaken = (entry: BusEntry): boolean =>
          chance.happens(`taken ${place} ${entry.deduplicationId}`, 0.5);
        const taken = entries.filter(isTaken);
        const outcomes = await bus.publish(taken);
        return entries.map((entry) => outcomes[taken.indexOf(entry)] ?? FAILED);
      })
      .catch(() => entries.map(() => FAILED)),
});
