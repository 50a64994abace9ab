import type { Chance } from "../engine/chance.ts";
import { A, B, LOCAL, NARROW_SENDER, OTHER_SENDER, OWN_SENDER, STRANGER } from "./actors.ts";
import { type Asked, type Input, keyOf, REACTION } from "./deeds.ts";
import { type Make, OTHER_SUSPENDED } from "./requests.ts";

/** Material for an input that refers to another one. */
interface Around {
  readonly id: string;
  /** An instant while commands are requested, ms after the start. */
  readonly afterMs: number;
  /** A request that the input refers to. */
  readonly whose: Asked;
  readonly kinds: readonly Make[];
  /** The inputs of this kind before it. */
  readonly earlier: readonly Input[];
}

const ACTING_MS = 4 * 60_000;

/** Most commands end within a few seconds. */
const soonAfter = (chance: Chance, { id, whose }: Around): number =>
  whose.afterMs + chance.between(`after ${id}`, 0, chance.pick(`soon ${id}`, [5_000, 60_000]));

const invoice = (_chance: Chance, { id, afterMs }: Around): Input => {
  const data = {
    operation: "resume-instance",
    params: { ...B, instance_id: OTHER_SUSPENDED },
    account: LOCAL,
  };
  const asking = { sender: OTHER_SENDER, commandId: `${id}:${REACTION}`, data };
  return { id, afterMs, deed: { kind: "invoice" }, asking };
};

const follow = (chance: Chance, around: Around): Input => {
  const { id, whose } = around;
  const sender = chance.pick(`follower ${id}`, [OWN_SENDER, OTHER_SENDER, NARROW_SENDER]);
  const data = { operation: "follow-task", account: LOCAL };
  return {
    id,
    afterMs: soonAfter(chance, around),
    deed: { kind: "follow", startedBy: keyOf(whose.asking) },
    asking: { sender, commandId: id, data },
  };
};

const stranger = (chance: Chance, { id, afterMs, kinds }: Around): Input => {
  const data = { ...chance.pick(`kind ${id}`, kinds)(chance, id, LOCAL), account: LOCAL };
  return {
    id,
    afterMs,
    deed: { kind: "request", way: "bus" },
    asking: { sender: STRANGER, commandId: id, data, rejectedAs: "not-allowed" },
  };
};

const forgery = (_chance: Chance, { id, afterMs }: Around): Input => {
  const data = {
    operation: "update-policy",
    params: { ...A, policy_id: 1 },
    account: LOCAL,
    body: { name: `forged-${id}` },
  };
  return { id, afterMs, deed: { kind: "forgery", sender: OTHER_SENDER, data } };
};

const rubbish = (_chance: Chance, { id, afterMs }: Around): Input => ({
  id,
  afterMs,
  deed: { kind: "rubbish" },
});

const newKey = (chance: Chance, { id, afterMs }: Around): Input => ({
  id,
  afterMs,
  deed: { kind: "new key", lateMs: chance.pick(`late ${id}`, [0, 3_000, 60_000]) },
});

const newTag = (_chance: Chance, { id, afterMs }: Around): Input => ({
  id,
  afterMs,
  deed: { kind: "new tag" },
});

/** Cancels a command, or a follow-task if there is one. */
const cancel = (chance: Chance, around: Around): Input => {
  const followed = around.earlier.findLast(({ deed }) => deed.kind === "follow");
  const afterMs = (followed?.afterMs ?? 0) + soonAfter(chance, around);
  const { asking = around.whose.asking } = followed ?? around.whose;
  return { id: around.id, afterMs, deed: { kind: "cancel", command: keyOf(asking) } };
};

const resolve = (chance: Chance, { id }: Around): Input => ({
  id,
  afterMs: 0,
  deed: {
    kind: "resolve",
    applied: chance.happens(`applied ${id}`, 0.5),
    isCareless: chance.happens(`careless ${id}`, 0.5),
    lateMs: chance.between(`late ${id}`, 0, 60_000),
  },
});

/** Repeated entries are drawn more often. */
const ALL = [
  ...[invoice, follow, follow, stranger, forgery, rubbish, newKey, newTag],
  ...[cancel, cancel, cancel, resolve, resolve],
];

/** All inputs of the workload besides requests for commands. */
export const aroundOf = (
  chance: Chance,
  kinds: readonly Make[],
  requests: readonly Asked[],
): readonly Input[] => {
  const count = chance.pick("others", [0, 0, 1, 2, 4]);
  const earlier: Input[] = [];
  for (let number = 1; number <= count; number++) {
    const id = `o${number}`;
    const afterMs = chance.between(`when ${id}`, 0, ACTING_MS);
    const whose = chance.pick(`whose ${id}`, requests);
    earlier.push(
      chance.pick(`what ${id}`, ALL)(chance, { id, afterMs, whose, kinds, earlier: [...earlier] }),
    );
  }
  const isGuarded = requests.some(({ asking }) => "guards" in asking.data);
  return isGuarded && chance.happens("new tag", 0.5)
    ? [
        ...earlier,
        { id: "tag", afterMs: chance.between("tag", 0, 60_000), deed: { kind: "new tag" } },
      ]
    : earlier;
};
