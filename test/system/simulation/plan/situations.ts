import type { Chance } from "../engine/chance.ts";
import type { Weather } from "../engine/faults.ts";
import { A, BLIND, LOCAL, OWN_SENDER, STARTS_AT } from "./actors.ts";
import { type Asked, type Input, keyOf } from "./deeds.ts";
import { BREAKING_GUARD } from "./guards.ts";
import { LARGE_NUMBERS, POOL_A, type RequestData } from "./requests.ts";

/**
 * A small workload in which conditions meet that rarely meet by chance, such as a cancelled command in the middle of
 * a lane.
 */
export interface Situation {
  readonly inputs: readonly Input[];
  /** Rates of faults in place of those of the fault profile. */
  readonly weather: Weather;
  /** Duration of a background task, ms; absent: the seed decides. */
  readonly taskMs?: number;
}

/** Part of the seeds without a crowd. */
const SHARE = 0.2;
/** Drawn first. */
const PAIRS_SHARE = 0.03;

type Wish = Partial<RequestData> & Pick<RequestData, "operation">;

const ask = (id: string, afterMs: number, data: Wish, way: "bus" | "queue" = "queue"): Asked => ({
  id,
  afterMs,
  deed: { kind: "request", way },
  asking: { sender: OWN_SENDER, commandId: id, data: { account: LOCAL, ...data } },
});

/** Ids from `c1` on, with their numbers from 0. */
const several = <T>(
  chance: Chance,
  [from, to]: readonly [number, number],
  make: (id: string, index: number) => T,
): readonly T[] =>
  Array.from({ length: chance.between("commands", from, to) }, (_, index) =>
    make(`c${index + 1}`, index),
  );

const updateContainer = (id: string): Wish => ({
  operation: "update-container",
  params: { ...A, container_name: "my-container" },
  body: { description: id },
});

const updatePool = (id: string): Wish => ({
  operation: "update-pool",
  params: { ...A, pool_id: POOL_A },
  body: { name: `pool-${id}` },
});

const updatePolicy = (id: string): Wish => ({
  operation: "update-policy",
  params: { ...A, policy_id: 1 },
  body: { name: `policy-${id}` },
});

/** Equal requests: names of routers are not unique. */
const createRouter = (): Wish => ({
  operation: "create-router",
  params: A,
  body: { name: "router-same" },
});

/** One event with another limit each time. */
const createStorageEvent = (_id: string, index: number): Wish => ({
  operation: "create-storage-event",
  body: {
    name: "reaching_used_space",
    storage_name: "s",
    bucket_name: `${LOCAL}-b1`,
    bytes: LARGE_NUMBERS[index],
  },
});

const deadlineAt = (afterMs: number): string => new Date(STARTS_AT + afterMs).toISOString();

/** Commands wait in one lane; one of them is cancelled, and others reach their deadlines there. */
const busyLane = (chance: Chance): Situation => {
  const update = chance.pick("update", [updateContainer, updatePool]);
  const requests = several(chance, [4, 6], (id, index) => {
    const afterMs = chance.between(`when ${id}`, 0, 4_000) + (index > 0 ? 2_000 : 0);
    const isLimited = index > 0 && chance.happens(`limit ${id}`, 0.5);
    const deadline = deadlineAt(afterMs + chance.between(`deadline ${id}`, 10_000, 120_000));
    return ask(id, afterMs, { ...update(id), ...(isLimited && { deadline }) });
  });
  const cancelled = chance.pick("cancelled", requests.slice(1));
  const afterMs = chance.between("cancel", 6_000, 40_000);
  const cancel = { kind: "cancel", command: keyOf(cancelled.asking) } as const;
  return {
    inputs: [
      ...requests,
      ...(chance.happens("is cancelled", 0.5) ? [{ id: "o1", afterMs, deed: cancel }] : []),
    ],
    weather: chance.pick("lane but", [{ "send fails": 0.5 }, { endless: 0.3 }]),
    taskMs: chance.pick("lane task", [8_000, 40_000]),
  };
};

const LOST: Weather = {
  stalls: 0.15,
  "503 before": 0.15,
  "503 after": 0.15,
  "reset before": 0.15,
  "reset after": 0.15,
  long: 0.3,
};

/** Replies to commands on one resource are lost, until a guard breaks or an operator acts. */
const lostReplies = (chance: Chance): Situation => {
  const make = chance.pick("lost", [
    ...[createRouter, createRouter, createRouter, createRouter],
    ...[createStorageEvent, createStorageEvent, updateContainer, updatePool],
  ]);
  const trouble = chance.pick("trouble", [
    "guard",
    "guard",
    "cancel",
    "cancel",
    "no list",
    "none",
    "none",
  ]);
  const requests = several(chance, [2, 3], (id, index) =>
    ask(id, chance.between(`when ${id}`, 0, 10_000), {
      ...make(id, index),
      ...(trouble === "guard" && { guards: [BREAKING_GUARD] }),
      ...(trouble === "no list" && { account: BLIND }),
    }),
  );
  const command = keyOf(chance.pick("cancelled", requests).asking);
  const resolving = { kind: "resolve", applied: true, isCareless: true, lateMs: 5_000 } as const;
  const afterMs = chance.between("trouble after", 2_000, 60_000);
  return {
    inputs: [
      ...requests,
      ...(trouble === "guard" ? [{ id: "o1", afterMs, deed: { kind: "new tag" } } as const] : []),
      ...(trouble === "cancel"
        ? [{ id: "o1", afterMs, deed: { kind: "cancel", command } } as const]
        : []),
      ...(chance.happens("resolves", 0.5) ? [{ id: "o2", afterMs: 0, deed: resolving }] : []),
    ],
    weather: LOST,
    taskMs: chance.pick("lost task", [8_000, 40_000]),
  };
};

/** Commands wait for dry runs, and for each other. */
const dependents = (chance: Chance): Situation => {
  const isCircle = chance.happens("circle", 0.5);
  return {
    inputs: several(chance, [2, 4], (id, index) => {
      const others = index > 0 ? [`c${index}`] : isCircle ? ["c2"] : [];
      return ask(id, isCircle ? 0 : chance.between(`when ${id}`, 0, 10_000), {
        ...(index % 2 === 0 ? updatePolicy : updatePool)(id),
        ...(others.length > 0 && { after: others }),
        ...(chance.happens(`dry ${id}`, isCircle ? 0 : 0.4) && { dryRun: true }),
      });
    }),
    weather: {},
    taskMs: 1_500,
  };
};

/** A wrong request, and then the right one under the same id, while messages come again. */
const correctedRequest = (chance: Chance): Situation => {
  const wrong = ask("c1", 0, { ...updatePolicy("c1"), colour: "red" }, "bus");
  const right = ask("c2", chance.between("right", 500, 20_000), updatePolicy("c1"), "bus");
  return {
    inputs: [
      { ...wrong, asking: { ...wrong.asking, rejectedAs: "invalid" } },
      { ...right, asking: { ...right.asking, commandId: "c1" } },
    ],
    weather: {
      "event twice": 0.5,
      "event late": 0.3,
      "comes twice": 0.3,
      "acknowledgement lost": 0.4,
    },
    taskMs: 1_500,
  };
};

/** The provider is often unreachable, and no other fault strikes. */
const unreachable = (chance: Chance): Situation => ({
  inputs: several(chance, [1, 3], (id) =>
    ask(id, chance.between(`when ${id}`, 0, 60_000), updatePolicy(id)),
  ),
  weather: { "no connection": 0.5 },
  taskMs: 1_500,
});

/** The bus and the schedule fail, so that commands wait for the redelivery of their messages beyond their deadlines. */
const silentSchedule = (chance: Chance): Situation => ({
  inputs: several(chance, [1, 2], (id, index) => {
    const afterMs = chance.between(`when ${id}`, 0, 10_000);
    const deadline = deadlineAt(afterMs + chance.between(`deadline ${id}`, 10_000, 90_000));
    return ask(id, afterMs, { ...(index === 0 ? updatePolicy : updatePool)(id), deadline });
  }),
  weather: { "publish fails": 0.6, "tick lost": 0.9 },
  taskMs: 1_500,
});

/**
 * Nothing fails. In each minute the first check of one task comes when the end of another one is handled, or tasks of
 * two accounts begin together. Between the pairs nothing else wakes the poller.
 */
const pairs = (chance: Chance): Situation => {
  const hasTwoAccounts = chance.happens("pairs of two accounts", 0.5);
  const [from, to] = hasTwoAccounts ? ([100, 1_500] as const) : ([5_000, 10_000] as const);
  return {
    inputs: Array.from({ length: 5 }, (_, index) => {
      const firstMs = 70_000 * index;
      const secondMs = firstMs + chance.between(`second ${index}`, from, to);
      const [first, second] = [`a${index + 1}`, `b${index + 1}`];
      return [
        ask(first, firstMs, updateContainer(first)),
        ask(second, secondMs, {
          ...updatePool(second),
          account: hasTwoAccounts ? BLIND : LOCAL,
        }),
      ];
    }).flat(),
    weather: {},
    taskMs: 8_000,
  };
};

/** Repeated entries are drawn more often. */
const SITUATIONS = [
  ...[busyLane, busyLane, lostReplies, lostReplies, lostReplies, lostReplies],
  ...[dependents, correctedRequest, unreachable, silentSchedule],
];

/** The situation of a seed; undefined for most seeds, which include the fixed ones of `seeds.test.ts`. */
export const situationOf = (chance: Chance): Situation | undefined => {
  if (chance.happens("pairs", PAIRS_SHARE)) return pairs(chance);
  return chance.happens("rare situation", SHARE)
    ? chance.pick("which situation", SITUATIONS)(chance)
    : undefined;
};
