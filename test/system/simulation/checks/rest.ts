import * as z from "zod";
import { lanes } from "../../../../lib/engine/lane.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";

const laneSchema = z.object({ holder: z.string().optional(), waiting: z.array(z.string()) });

/** At rest every lane is free: an idle holder would stop all later commands of the lane. */
export const checkRest = async ({ ledger }: Cloud): Promise<readonly Violation[]> =>
  [...ledger.items.values()]
    .filter(({ key }) => key.startsWith(`${lanes.kind}#`))
    .flatMap(({ key, value }) => {
      const { holder, waiting } = laneSchema.parse(value);
      return [...(holder === undefined ? [] : [holder]), ...waiting].map((command) => ({
        invariant: 3,
        text: `${command} is in ${key}, although the system is at rest`,
      }));
    });
