import { SUSPENDED_INSTANCE } from "../../../support/requests.ts";
import type { Chance } from "../engine/chance.ts";
import { A, B } from "./actors.ts";

export const OTHER_SUSPENDED = "6c6aa80f-7836-4dc2-a2ae-125e248be478";
const ACTIVE = "6c6aa80f-7836-4dc2-a2ae-125e248be477";
export const POOL_A = "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f";
const POOL_B = "9fccf0a3-c0de-441d-9afd-2b9b58b08ba0";
const VOLUMES = ["3ed9e2ce-f906-47fb-ba32-c25a3f63df4f", "3ed9e2ce-f906-47fb-ba32-c25a3f63df50"];

/** The largest unsigned 64-bit numbers, and others beyond the precision of JavaScript numbers. */
export const LARGE_NUMBERS = ["18446744073709551615", "9007199254740993", "700"];

/** A secret that may be in the stored request only. */
export const ENVS_CANARY = "envs-canary-5f2c";
export const PULL_SECRET_CANARY = "pull-canary-81d7";

/** The data of a `CommandRequested`. */
export interface RequestData {
  readonly operation: string;
  readonly [field: string]: unknown;
}

export type Make = (chance: Chance, id: string, account: string) => RequestData;

/** Sometimes equal to another request, so that nothing is left to change. */
const sameOr = (chance: Chance, id: string, own: string): string =>
  chance.happens(`same ${id}`, 0.2) ? "same" : own;

/** Requests by operation. Few resources, so that commands share lanes. */
const REQUESTS: readonly Make[] = [
  (chance, id) => ({
    operation: "update-container",
    params: chance.pick(`place ${id}`, [
      { ...A, container_name: "my-container" },
      { ...B, container_name: "my-nginx" },
    ]),
    body: {
      description: id,
      ...(chance.happens(`secret ${id}`, 0.5) && {
        envs: { TOKEN: `${ENVS_CANARY}-${id}` },
        pull_secret: `${PULL_SECRET_CANARY}-${id}`,
      }),
    },
  }),
  (chance, id) => ({
    operation: "resume-instance",
    params: chance.pick(`instance ${id}`, [
      { ...A, instance_id: SUSPENDED_INSTANCE },
      { ...B, instance_id: OTHER_SUSPENDED },
      { ...A, instance_id: ACTIVE },
    ]),
  }),
  (chance, id) => ({
    operation: "remove-policy-volumes",
    params: { ...A, policy_id: 1 },
    body: { volume_ids: [chance.pick(`volume ${id}`, VOLUMES)] },
  }),
  (chance, id) => ({
    operation: "update-policy",
    params: { ...A, policy_id: 1 },
    body: { name: sameOr(chance, id, `policy-${id}`) },
  }),
  (chance, id) => ({
    operation: "update-pool",
    params: chance.pick(`pool ${id}`, [
      { ...A, pool_id: POOL_A },
      { ...B, pool_id: POOL_B },
    ]),
    body: { name: sameOr(chance, id, `pool-${id}`) },
  }),
  (chance, id, account) => ({
    operation: chance.pick(`write ${id}`, ["create-storage-event", "update-storage-event"]),
    body: {
      name: "reaching_used_space",
      storage_name: "s",
      // Two accounts on one event would mistake each other's change for the state before.
      bucket_name: `${account}-${chance.pick(`bucket ${id}`, ["b1", "b2"])}`,
      bytes: chance.pick(`bytes ${id}`, LARGE_NUMBERS),
    },
  }),
  (chance, id, account) => {
    // Names are not unique: in some runs all requests of an account use one name and one region.
    const name = chance.happens("one router", 0.3) ? account : id;
    return {
      operation: "create-router",
      params: chance.pick(`region ${name}`, [A, B]),
      body: { name: `router-${name}` },
    };
  },
];

/** Creates are drawn more often: they have the most ways to fail. */
const CREATE_ROUTER = REQUESTS.slice(-1);
/** Operations with tasks, which several commands may follow. */
const WITH_TASKS = REQUESTS.filter((_, index) => [0, 4].includes(index));

/** In some runs all commands are of one or two kinds, so that they share lanes more often. */
export const kindsOf = (chance: Chance): readonly Make[] => {
  const count = chance.between("kinds", 1, 5);
  const all = [...REQUESTS, ...CREATE_ROUTER, ...CREATE_ROUTER];
  if (count === 4) return REQUESTS;
  if (count === 5) return WITH_TASKS;
  return Array.from({ length: count }, (_, index) => chance.pick(`kind ${index}`, all));
};
