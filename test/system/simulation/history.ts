import type { Cloud } from "./cloud/cloud.ts";
import { STARTS_AT } from "./plan/actors.ts";
import { type Input, keyOf } from "./plan/deeds.ts";

/** One line of a run's history. */
export interface Moment {
  /** Virtual time since the start of the run, ms. */
  readonly afterMs: number;
  readonly text: string;
}

const done = ({ afterMs, id, deed, asking }: Input): Moment => {
  const how = JSON.stringify(deed);
  const what = asking ? `: ${keyOf(asking)} is requested: ${JSON.stringify(asking.data)}` : "";
  return { afterMs, text: `${id} ${how}${what}` };
};

/** Inputs, faults and effects at the provider, in the order of time. */
export const historyOf = (cloud: Cloud): readonly Moment[] => {
  const { faults, limits, chronicle, inputs, versions } = cloud;
  const moment = (at: number, text: string): Moment => ({ afterMs: at - STARTS_AT, text });
  return [
    ...inputs.map(done),
    ...versions.map(({ id, afterMs, text }) => ({ afterMs, text: `${id} is written: ${text}` })),
    ...faults.struck.map(({ at, place, kind }) => moment(at, `FAULT ${kind}, at ${place}`)),
    ...limits.struck.map(({ at, limit }) => moment(at, `AWS's limit strikes: ${limit}`)),
    ...chronicle.departures.map(({ at, command, sandbox }) =>
      moment(at, `${command}: a request leaves ${sandbox}`),
    ),
    ...chronicle.effects.map(({ at, command, status, taskIds }) =>
      moment(at, `${command}: the provider answers ${[status, ...taskIds].join(" ")}`),
    ),
    ...[...chronicle.endedAt].map(([command, at]) => moment(at, `${command}: has ended`)),
  ].sort((a, b) => a.afterMs - b.afterMs);
};
