import { setTimeout as sleep } from "node:timers/promises";
import type { Published } from "./stage.ts";

export interface EventLog {
  add(event: Published): void;
  /** What has arrived and fits, each fact once: at least once is the promise. */
  all(fits: (event: Published) => boolean): readonly Published[];
  /**
   * Waits for the first that fits.
   * @param what for whoever reads that it did not come
   * @param limitMs absent: that of the log
   * @throws Error when it does not come in time, with what came instead
   */
  first(what: string, fits: (event: Published) => boolean, limitMs?: number): Promise<Published>;
}

const LOOK_MS = 50;

const line = ({ "detail-type": type, detail: { metadata, data } }: Published): string =>
  `${type} ${metadata.commandId ?? ""} ${JSON.stringify(data).slice(0, 300)}`;

/** @param usualLimitMs the longest that anything may take to arrive */
export const createEventLog = (usualLimitMs: number): EventLog => {
  const arrived = new Map<string, Published>();
  const all: EventLog["all"] = (fits) => [...arrived.values()].filter(fits);
  return {
    add(event) {
      const { id } = event.detail.metadata;
      if (!arrived.has(id)) arrived.set(id, event);
    },
    all,
    async first(what, fits, limitMs = usualLimitMs) {
      const endsAt = performance.now() + limitMs;
      while (performance.now() < endsAt) {
        const [found] = all(fits);
        if (found) return found;
        await sleep(LOOK_MS);
      }
      const last = [...arrived.values()].slice(-20).map(line).join("\n");
      throw new Error(`${what} did not come within ${limitMs / 1000} s; what came last:\n${last}`);
    },
  };
};
