import { SUSPENDED_INSTANCE } from "../../support/requests.ts";
import type { Chance } from "../engine/chance.ts";

const A = { project_id: 1234567, region_id: 76 };
const B = { project_id: 1186668, region_id: 148 };
const OTHER_SUSPENDED = "6c6aa80f-7836-4dc2-a2ae-125e248be478";
const ACTIVE = "6c6aa80f-7836-4dc2-a2ae-125e248be477";
const POOL_A = "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f";
const POOL_B = "9fccf0a3-c0de-441d-9afd-2b9b58b08ba0";
const VOLUMES = ["3ed9e2ce-f906-47fb-ba32-c25a3f63df4f", "3ed9e2ce-f906-47fb-ba32-c25a3f63df50"];
const NETWORK = { ...A, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" };

/** The largest of the unsigned 64-bit numbers, and others that JSON's own numbers cannot say. */
export const LARGE_NUMBERS = ["18446744073709551615", "9007199254740993", "700"];

/** What may be in the stored request, and nowhere else. */
export const ENVS_CANARY = "envs-canary-5f2c";
export const PULL_SECRET_CANARY = "pull-canary-81d7";

/** A request that somebody makes. */
export interface Input {
  /** Tells it from the others of the run; its event's id. */
  readonly id: string;
  /** After the beginning. */
  readonly afterMs: number;
  /** AWS account that asks; `own` sends to the queue directly, as a person with rights there may. */
  readonly sender: string;
  /** Detail of a `CommandRequested`. */
  readonly detail: {
    readonly metadata: { readonly commandId: string };
    readonly data: { readonly operation: string; readonly [field: string]: unknown };
  };
}

type Make = (
  chance: Chance,
  id: string,
) => { readonly operation: string; readonly [field: string]: unknown };

/** By operation; few resources, so that commands meet in lanes. */
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
  (_chance, id) => ({
    operation: "update-policy",
    params: { ...A, policy_id: 1 },
    body: { name: `policy-${id}` },
  }),
  (chance, id) => ({
    operation: "update-pool",
    params: chance.pick(`pool ${id}`, [
      { ...A, pool_id: POOL_A },
      { ...B, pool_id: POOL_B },
    ]),
    body: { name: `pool-${id}` },
  }),
  (chance, id) => ({
    operation: chance.pick(`write ${id}`, ["create-storage-event", "update-storage-event"]),
    body: {
      name: "reaching_used_space",
      storage_name: "s",
      bucket_name: chance.pick(`bucket ${id}`, ["b1", "b2"]),
      bytes: chance.pick(`bytes ${id}`, LARGE_NUMBERS),
    },
  }),
  (chance, id) => ({
    operation: "create-router",
    params: chance.pick(`region ${id}`, [A, B]),
    // Names are not unique: sometimes two commands want the same.
    body: { name: chance.pick(`router ${id}`, [`router-${id}`, `router-${id}`, "router"]) },
  }),
];

const conditionsOf = (chance: Chance, id: string, earlier: readonly string[]) => ({
  ...(earlier.length > 0 &&
    chance.happens(`after ${id}`, 0.2) && { after: [chance.pick(`whom ${id}`, earlier)] }),
  ...(chance.happens(`guard ${id}`, 0.1) && {
    guards: [
      { network: NETWORK, key: "cost-center", equals: chance.pick(`tag ${id}`, ["games", "none"]) },
    ],
  }),
  ...(chance.happens(`dry ${id}`, 0.05) && { dryRun: true }),
});

/** Creating is where the most can go wrong. */
const CREATE_ROUTER = REQUESTS.slice(-1);

/** In some runs all commands are of one kind or two, so that they meet more often. */
const kindsOf = (chance: Chance): readonly Make[] => {
  const count = chance.between("kinds", 1, 4);
  const all = [...REQUESTS, ...CREATE_ROUTER, ...CREATE_ROUTER];
  return count === 4
    ? REQUESTS
    : Array.from({ length: count }, (_, index) => chance.pick(`kind ${index}`, all));
};

const MAX_COMMANDS = 7;
/** Everything is asked for within this time. */
const ASKING_MS = 4 * 60_000;

/** The AWS account of another team. */
export const OTHER_SENDER = "111122223333";
export const OWN_SENDER = "999900001111";

/** Whether it may meet the thresholds of a config. */
export const isOnStorageEvent = ({ detail }: Input): boolean =>
  detail.data.operation.endsWith("storage-event");

/** What is asked for in a run. */
export const inputsOf = (chance: Chance): readonly Input[] => {
  const inputs: Input[] = [];
  const kinds = kindsOf(chance);
  const count = chance.between("commands", 1, MAX_COMMANDS);
  for (let number = 1; number <= count; number++) {
    const id = `c${number}`;
    const sender = chance.pick(`sender ${id}`, [OWN_SENDER, OWN_SENDER, OTHER_SENDER]);
    const earlier = inputs.filter((input) => input.sender === sender);
    const twin = earlier.at(-1);
    const afterMs = chance.between(`when ${id}`, 0, ASKING_MS);
    if (twin && chance.happens(`twin ${id}`, 0.1)) {
      // The same command asked for again, or another under its id.
      const isSame = chance.happens(`same ${id}`, 0.5);
      const { commandId } = twin.detail.metadata;
      const data = isSame ? twin.detail.data : chance.pick(`kind ${id}`, kinds)(chance, id);
      inputs.push({ id, afterMs, sender, detail: { metadata: { commandId }, data } });
      continue;
    }
    const others = earlier.map(({ detail }) => detail.metadata.commandId);
    const data = {
      ...chance.pick(`kind ${id}`, kinds)(chance, id),
      ...conditionsOf(chance, id, others),
    };
    inputs.push({ id, afterMs, sender, detail: { metadata: { commandId: id }, data } });
  }
  return inputs;
};
