import { setTimeout as sleep } from "node:timers/promises";
import { createEventLog, type EventLog, publishedSchema } from "../system/scenarios/stage.ts";
import type { Tap } from "./tap.ts";

const POLL_MS = 100;

export interface TapReading {
  readonly events: EventLog;
  /** Stops reading. Call it before the tap is removed. */
  stop(): Promise<void>;
}

/** Reads a tap and keeps its events. @param limitMs see `createEventLog` */
export const readTap = (tap: Tap, limitMs: number): TapReading => {
  const events = createEventLog(limitMs);
  let isOpen = true;
  const reading = (async () => {
    while (isOpen) {
      const arrived = await tap.receive();
      for (const event of arrived) events.add(publishedSchema.parse(event));
      if (arrived.length === 0) await sleep(POLL_MS);
    }
  })();
  return {
    events,
    async stop() {
      isOpen = false;
      await reading;
    },
  };
};
