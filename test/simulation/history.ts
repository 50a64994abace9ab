import type { Cloud } from "./cloud/cloud.ts";
import type { Input } from "./plan/inputs.ts";

/** Something that happened in a run. */
export interface Moment {
  /** Since the beginning. */
  readonly afterMs: number;
  readonly text: string;
}

const asked = ({ afterMs, id, sender, detail }: Input): Moment => {
  const { commandId } = detail.metadata;
  const what = JSON.stringify(detail.data);
  return { afterMs, text: `${id}: ${sender}/${commandId} is asked for: ${what}` };
};

/** What was asked for, what went wrong, and what came of it at the provider, in the order of time. */
export const historyOf = (cloud: Cloud, inputs: readonly Input[]): readonly Moment[] => {
  const { faults, chronicle, startsAt } = cloud;
  const moment = (at: number, text: string): Moment => ({ afterMs: at - startsAt, text });
  return [
    ...inputs.map(asked),
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
