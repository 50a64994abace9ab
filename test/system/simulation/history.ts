import type { Cloud } from "./cloud/cloud.ts";
import { type Input, keyOf } from "./plan/deeds.ts";

/** Something that happened in a run. */
export interface Moment {
  /** Since the beginning. */
  readonly afterMs: number;
  readonly text: string;
}

const done = ({ afterMs, id, deed, asking }: Input): Moment => {
  const how = JSON.stringify(deed);
  const what = asking ? `: ${keyOf(asking)} is asked for: ${JSON.stringify(asking.data)}` : "";
  return { afterMs, text: `${id} ${how}${what}` };
};

/** What was asked for, what went wrong, and what came of it at the provider, in the order of time. */
export const historyOf = (cloud: Cloud): readonly Moment[] => {
  const { faults, chronicle, startsAt, inputs, versions } = cloud;
  const moment = (at: number, text: string): Moment => ({ afterMs: at - startsAt, text });
  return [
    ...inputs.map(done),
    ...versions.map(({ id, afterMs, text }) => ({ afterMs, text: `${id} is written: ${text}` })),
    ...faults.struck.map(({ at, place, kind }) => moment(at, `FAULT ${kind}, at ${place}`)),
    ...chronicle.departures.map(({ at, command, sandbox }) =>
      moment(at, `${command}: a request leaves ${sandbox}`),
    ),
    ...chronicle.effects.map(({ at, command, status, taskIds }) =>
      moment(at, `${command}: the provider answers ${[status, ...taskIds].join(" ")}`),
    ),
    ...[...chronicle.endedAt].map(([command, at]) => moment(at, `${command}: has ended`)),
  ].sort((a, b) => a.afterMs - b.afterMs);
};
