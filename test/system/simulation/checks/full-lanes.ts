import * as z from "zod";
import { lanes } from "../../../../lib/engine/lane.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";

/** Of the documentation: a lane holds one running command and 500 waiting ones, and rejects the next. */
const MOST_WAITING = 500;
const FULL = "lane that is full";
const PREFIX = `${lanes.kind}#`;
const laneSchema = z.object({ waiting: z.array(z.string()) });

/** No lane holds more commands than documented. */
export const watchFullLanes = ({ ledger, chronicle }: Cloud): void => {
  ledger.onWrite(({ key, value }) => {
    if (!key.startsWith(PREFIX)) return;
    const { length } = laneSchema.parse(value).waiting;
    if (length >= MOST_WAITING) chronicle.met.add(FULL);
    if (length <= MOST_WAITING) return;
    chronicle.violations.push({ invariant: 3, text: `${length} commands wait in ${key}` });
  });
};

/** No lane rejects a command before it is full. */
export const checkFullLanes = async ({ bus, chronicle }: Cloud): Promise<readonly Violation[]> => {
  const isRejected = bus.seen().some(({ data }) => data.reason === "lane-full");
  const text = "a lane was never full, but a command was rejected as lane-full";
  return isRejected && !chronicle.met.has(FULL) ? [{ invariant: 3, text }] : [];
};
