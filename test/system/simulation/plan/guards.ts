import type { Chance } from "../engine/chance.ts";
import { A } from "./actors.ts";

const NETWORK = { ...A, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" };
const LOST_NETWORK = { ...A, network_id: "b39792c3-3160-4356-912e-ba396c95cd00" };

/** Value of the tag `cost-center` before and after a client changed it. */
export const TAG_VALUES = ["platform", "games"] as const;

interface KnownGuard {
  readonly guard: object;
  /** Whether the guard holds before that change, and after it. */
  readonly holds: readonly [boolean, boolean];
}

const known = (guard: object, ...holds: readonly [boolean, boolean]): KnownGuard => ({
  guard,
  holds,
});

/** Holds until a client changes the tag. */
export const BREAKING_GUARD = { network: NETWORK, key: "cost-center", equals: "platform" };

const GUARDS: readonly KnownGuard[] = [
  known(BREAKING_GUARD, true, false),
  known({ network: NETWORK, key: "cost-center", not: "games" }, true, false),
  known({ network: NETWORK, key: "cost-center", equals: "games" }, false, true),
  known({ network: NETWORK, key: "cost-center", not: "platform" }, false, true),
  known({ network: NETWORK, key: "my-tag", exists: true }, true, true),
  known({ network: NETWORK, key: "no-tag", absent: true }, true, true),
  known({ network: NETWORK, key: "no-tag", not: "games" }, true, true),
  known({ network: LOST_NETWORK, key: "cost-center", absent: true }, true, true),
  known({ network: NETWORK, key: "no-tag", exists: true }, false, false),
  known({ network: NETWORK, key: "my-tag", absent: true }, false, false),
  known({ network: LOST_NETWORK, key: "cost-center", equals: "platform" }, false, false),
];

/** One or two guards; most of them hold at first. */
export const guardsOf = (chance: Chance, id: string): readonly object[] => {
  const holding = GUARDS.filter(({ holds: [first] }) => first);
  const choices = chance.happens(`broken ${id}`, 0.3) ? GUARDS : holding;
  const first = chance.pick(`guard ${id} 1`, holding).guard;
  const second = chance.pick(`guard ${id} 2`, choices).guard;
  return chance.happens(`guards ${id}`, 0.5) ? [first, second] : [second];
};

/** Whether all guards of a command hold before the change of the tag, and after it. */
export const doHold = (guards: readonly unknown[]): readonly [boolean, boolean] => {
  const found = GUARDS.filter(({ guard }) =>
    guards.some((other) => JSON.stringify(other) === JSON.stringify(guard)),
  );
  return [found.every(({ holds: [first] }) => first), found.every(({ holds }) => holds[1])];
};
