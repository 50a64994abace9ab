import type { Chance } from "../engine/chance.ts";
import { STARTS_AT } from "./actors.ts";
import { guardsOf } from "./guards.ts";

/**
 * Mostly ids of earlier requests; sometimes any id, so that commands wait for each other or for an
 * unknown one.
 */
const afterOf = (chance: Chance, id: string, earlier: readonly string[]) => {
  const any = ["c1", "c2", "c3", "c4", "c9"].filter((other) => other !== id);
  const choices = earlier.length > 0 && chance.happens(`known ${id}`, 0.7) ? earlier : any;
  const first = chance.pick(`whom ${id}`, choices);
  const second = chance.pick(`whom else ${id}`, choices);
  return chance.happens(`both ${id}`, 0.4) && first !== second ? [first, second] : [first];
};

/** Some deadlines pass while faults still strike. */
const deadlineOf = (chance: Chance, id: string, afterMs: number): string => {
  const ms = chance.between(`deadline ${id}`, 5_000, 300_000);
  return new Date(STARTS_AT + afterMs + ms).toISOString();
};

interface Asked {
  readonly id: string;
  readonly afterMs: number;
  /** Ids of earlier commands of the same sender. */
  readonly earlier: readonly string[];
}

/** The conditions of a request: `after`, guards, deadline and dry run. */
export const conditionsOf = (chance: Chance, { id, afterMs, earlier }: Asked) => {
  const isAfter = chance.happens(`after ${id}`, 0.2);
  // In some runs many commands have one condition, so that several meet.
  const often = (name: string, rate: number, rarely: number): boolean =>
    chance.happens(`${name} ${id}`, chance.happens(`${name} often`, 0.15) ? rate : rarely);
  return {
    ...(isAfter && { after: afterOf(chance, id, earlier) }),
    ...(often("guard", 0.7, 0.1) && { guards: guardsOf(chance, id) }),
    ...(chance.happens(`limit ${id}`, isAfter ? 0.5 : 0.15) && {
      deadline: deadlineOf(chance, id, afterMs),
    }),
    ...(often("dry", 0.4, 0.05) && { dryRun: true }),
  };
};
