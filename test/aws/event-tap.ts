import { setTimeout as sleep } from "node:timers/promises";
import { createEventLog, type EventLog, publishedSchema } from "../system/scenarios/stage.ts";
import type { Tap } from "./tap.ts";

const LOOK_MS = 100;

export interface TapReading {
  readonly events: EventLog;
  /** Ends it, before the tap is removed. */
  stop(): Promise<void>;
}

/** Keeps what arrives. @param limitMs see `createEventLog` */
export const readTap = (tap: Tap, limitMs: number): TapReading => {
  const events = createEventLog(limitMs);
  let isOpen = true;
  const reading = (async () => {
    while (isOpen) {
      const arrived = await tap.receive();
      for (const event of arrived) events.add(publishedSchema.parse(event));
      if (arrived.length === 0) await sleep(LOOK_MS);
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
