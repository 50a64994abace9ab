import type { Chance } from "../engine/chance.ts";
import { BLIND, LOCAL, OTHER_SENDER, OWN_SENDER } from "./actors.ts";
import { aroundOf } from "./around.ts";
import { conditionsOf } from "./conditions.ts";
import { type Asked, type Asking, askingsOf, type Deed, type Input } from "./deeds.ts";
import { kindsOf, type Make, type RequestData } from "./requests.ts";

const MAX_COMMANDS = 7;
/** All requests arrive within one of these times: together, or one after the other. */
const ASKING_MS = [15_000, 4 * 60_000, 4 * 60_000];

type Wish = Pick<Asking, "data" | "time" | "rejectedAs">;

/** Requests that must be rejected. */
const MISTAKES: readonly ((data: RequestData) => Wish)[] = [
  (data) => ({
    data: { ...data, params: { project_id: "none", region_id: 76 } },
    rejectedAs: "invalid",
  }),
  (data) => ({
    data: { ...data, operation: "delete-everything" },
    rejectedAs: "unknown-operation",
  }),
  (data) => ({ data: { ...data, deadline: "2025-12-31T00:00:00Z" }, rejectedAs: "too-late" }),
  (data) => ({ data: { ...data, account: "nobody's" }, rejectedAs: "not-allowed" }),
  (data) => ({ data: { ...data, colour: "red" }, rejectedAs: "invalid" }),
  (data) => ({ data, time: "2025-11-30T00:00:00Z", rejectedAs: "too-old" }),
];

/** How the requests of a run are drawn. */
interface Habits {
  /** Whether many requests are wrong, repeated, or reuse an id. */
  readonly isCareless: boolean;
  readonly kinds: readonly Make[];
  readonly isBlindUsed: boolean;
}

const wishOf = (
  chance: Chance,
  { kinds, isBlindUsed, isCareless }: Habits,
  asked: Parameters<typeof conditionsOf>[1],
): Wish => {
  const { id } = asked;
  const isBlind = isBlindUsed && chance.happens(`blind ${id}`, 0.5);
  const account = isBlind ? BLIND : LOCAL;
  const data = {
    ...chance.pick(`kind ${id}`, kinds)(chance, id, account),
    account,
    ...conditionsOf(chance, asked),
  };
  const isWrong = chance.happens(`mistaken ${id}`, isCareless ? 0.4 : 0.05);
  return isWrong ? chance.pick(`mistake ${id}`, MISTAKES)(data) : { data };
};

const wayOf = (chance: Chance, id: string, sender: string): Deed => ({
  kind: "request",
  way: sender === OWN_SENDER && chance.happens(`direct ${id}`, 0.3) ? "queue" : "bus",
});

/** The same command again, or another one under its id. */
const twinOf = (
  chance: Chance,
  { id, afterMs }: Pick<Input, "id" | "afterMs">,
  first: Asking,
  habits: Habits,
): Asking =>
  chance.happens(`same ${id}`, 0.5)
    ? first
    : {
        sender: first.sender,
        commandId: first.commandId,
        ...wishOf(chance, habits, { id, afterMs, earlier: [] }),
      };

const requestsOf = (chance: Chance, habits: Habits): readonly Asked[] => {
  const inputs: Asked[] = [];
  const count = chance.between("commands", 1, MAX_COMMANDS);
  const askingMs = chance.pick("asking", ASKING_MS);
  for (let number = 1; number <= count; number++) {
    const id = `c${number}`;
    const sender = chance.pick(`sender ${id}`, [OWN_SENDER, OWN_SENDER, OTHER_SENDER]);
    const earlier = askingsOf(inputs).filter((asking) => asking.sender === sender);
    const afterMs = chance.between(`when ${id}`, 0, askingMs);
    const deed = wayOf(chance, id, sender);
    const first = earlier.at(-1);
    if (first && chance.happens(`twin ${id}`, habits.isCareless ? 0.5 : 0.1)) {
      inputs.push({ id, afterMs, deed, asking: twinOf(chance, { id, afterMs }, first, habits) });
      continue;
    }
    const asked = { id, afterMs, earlier: earlier.map(({ commandId }) => commandId) };
    const asking = { sender, commandId: id, ...wishOf(chance, habits, asked) };
    inputs.push({ id, afterMs, deed, asking });
  }
  return chance.happens("circle", 0.1) ? inCircle(inputs) : inputs;
};

/**
 * The first request waits for the last one, which arrives at the same instant and mostly waits for
 * the first.
 */
const inCircle = (inputs: readonly Asked[]): readonly Asked[] => {
  const [first, ...others] = inputs;
  const last = others.at(-1);
  if (!first || !last) return inputs;
  const waiting = (one: Asked, other: Asked): Asked => ({
    ...one,
    afterMs: first.afterMs,
    asking: { ...one.asking, data: { ...one.asking.data, after: [other.asking.commandId] } },
  });
  return [waiting(first, last), ...others.slice(0, -1), waiting(last, first)];
};

/** The whole workload of a run. */
export const inputsOf = (chance: Chance): readonly Input[] => {
  const habits = {
    kinds: kindsOf(chance),
    isBlindUsed: chance.happens("blind", 0.3),
    isCareless: chance.happens("careless", 0.15),
  };
  const requests = requestsOf(chance, habits);
  return [...requests, ...aroundOf(chance, habits.kinds, requests)];
};
