import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, onTestFinished, vi } from "vitest";
import { parseWireJson } from "../../../lib/contract/json.ts";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";
import { serve } from "../../../lib/service/serve.ts";
import { createService } from "../../../lib/service/service.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import type { PriceListRecord } from "../../../lib/service/state/prices.ts";
import {
  builtInState,
  type CollectionName,
  type RecordOf,
  type State,
  stateSchema,
} from "../../../lib/service/state/state.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { type Answer, createExchange } from "../../support/http-exchange.ts";

/**
 * What the suite speaks to. Without SERVICE_BASE_URL each file starts the embedded service. With it,
 * the service there, which is shared and keeps its state between runs: run the files one by one.
 * - SERVICE_API_KEY: the key; default: the first built-in one.
 * - SERVICE_OTHER_API_KEY: a key of another client; default: the second built-in one.
 * - SERVICE_STATE: JSON file with the state that the service began with; default: the built-in state.
 */
const { SERVICE_BASE_URL, SERVICE_STATE } = process.env;
const API_KEY = process.env.SERVICE_API_KEY || BUILT_IN_API_KEYS.first;
const OTHER_API_KEY = process.env.SERVICE_OTHER_API_KEY || BUILT_IN_API_KEYS.second;

/** Nothing has this id. */
export const UNKNOWN_ID = "00000000-0000-4000-8000-000000000404";

const POLLS = 150;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1000;

interface Located {
  readonly project_id: number;
  readonly region_id: number;
}

interface StorageEvent {
  readonly name: string;
  readonly storage_name?: string;
  readonly bucket_name?: string;
  readonly [field: string]: unknown;
}

const readState = (): State =>
  SERVICE_STATE
    ? stateSchema.parse(parseWireJson(readFileSync(SERVICE_STATE, "utf8")))
    : builtInState();

const startEmbedded = async (initialState: State, taskDurationMs: number): Promise<string> => {
  const service = await createService({
    clock: createSystemClock(),
    random: createSystemRandom(),
    store: createMemoryStore(),
    initialState,
    taskDurationMs,
    apiKey: API_KEY,
    onFault: (error) => process.emitWarning(error),
  });
  const served = await serve(service, 0);
  afterAll(served.close);
  return served.url;
};

/** A name that no other run or test uses, of letters, digits and a hyphen. */
export const uniqueName = (prefix: string): string =>
  `${prefix}-${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;

/** The fields that a refusal of the cloud family names, after seeing that it is one. */
export const refusedFields = ({ status, body }: Answer): string[] => {
  expect({ status, class: body?.exception_class }).toEqual({
    status: 400,
    class: "ValidationError",
  });
  return Object.keys(body.invalid_fields).sort();
};

/** The part of a path that says where a record lives. */
export const place = ({ project_id, region_id }: Located): string => `${project_id}/${region_id}`;

/** What the suite knows of the state that the service began with, seen with the key's eyes. */
const readWorld = (state: State) => {
  const sha256 = createHash("sha256").update(API_KEY).digest("hex");
  const key = state.keys.find((one) => one.sha256 === sha256);
  // A key that the state does not know is one of client 1 for every project.
  const client = key?.client_id ?? 1;
  const projects = key?.project_ids ?? [...new Set(state.containers.map((one) => one.project_id))];
  const isOwn = (record: object): boolean =>
    (!("project_id" in record) || projects.some((id) => id === record.project_id)) &&
    (!("client_id" in record) || record.client_id === client);

  const own = <C extends CollectionName>(collection: C): readonly RecordOf<C>[] => {
    const records: readonly RecordOf<C>[] = state[collection];
    return records.filter(isOwn);
  };
  /** The first record of the key's own that the test can use. */
  const one = <C extends CollectionName>(
    collection: C,
    isUsable: (record: RecordOf<C>) => boolean = () => true,
  ): RecordOf<C> => {
    const found = own(collection).find(isUsable);
    if (found === undefined) throw new Error(`no record in ${collection} fits this test`);
    return found;
  };
  /** Places where the record is not. */
  const elsewhere = ({ project_id, region_id }: Located): [string, string][] => [
    ["another region", `${project_id}/${region_id + 100_000}`],
    ["another project", `${projects.find((id) => id !== project_id) ?? 999_999_998}/${region_id}`],
    ["a project of nobody", `999999999/${region_id}`],
  ];
  /** What things cost in a region now. */
  const pricesOf = (regionId: number): PriceListRecord => {
    const begin = ({ starts_at }: PriceListRecord) => (starts_at ? Date.parse(starts_at) : 0);
    const begun = state.prices.filter(
      (list) => list.region_id === regionId && begin(list) <= Date.now(),
    );
    const latest = begun.toSorted((a, b) => begin(b) - begin(a))[0];
    if (latest === undefined) throw new Error(`no prices for region ${regionId}`);
    return latest;
  };
  return { state, client, own, one, elsewhere, pricesOf };
};

const talkTo = (baseUrl: string) => {
  const call = createExchange(fetch, baseUrl, API_KEY);

  /** Looks at a task until it has ended and returns its record. */
  const follow = async (taskId: string): Promise<Answer["body"]> => {
    for (let poll = 0; poll < POLLS; poll += 1) {
      const { body } = await call("GET", `/v1/tasks/${taskId}`);
      if (body.state === "FINISHED" || body.state === "ERROR") return body;
      await pause(Math.min(FIRST_PAUSE_MS * 1.2 ** poll, LONGEST_PAUSE_MS));
    }
    throw new Error(`task ${taskId} has not ended after ${POLLS} polls`);
  };

  /** Sends a request that answers one task and returns the task's record when it has ended. */
  const runTask = async (method: string, path: string, body: unknown): Promise<Answer["body"]> => {
    const accepted = await call(method, path, { body });
    expect(accepted).toMatchObject({ status: 200, body: { tasks: [expect.any(String)] } });
    return follow(accepted.body.tasks[0]);
  };

  /** Creates a storage event, whatever comes of it, that is gone again when the test has ended. */
  const createEvent = (event: StorageEvent): Promise<Answer> => {
    const { name, storage_name, bucket_name } = event;
    const identity = { name, storage_name, bucket_name };
    onTestFinished(async () => {
      await call("DELETE", "/storage/notifications/v1/event", { body: identity });
    });
    return call("POST", "/storage/notifications/v1/event", { body: event });
  };

  return { call, follow, runTask, createEvent };
};

/** Headers of a request by another client. */
export const AS_OTHER_CLIENT = { authorization: `apikey ${OTHER_API_KEY}` };
/** The value of a valid `Authorization` header, in two parts. */
export const [SCHEME, KEY] = ["apikey", API_KEY];

/** To be called at the top of a test file; the embedded service ends with the file. */
export const openTarget = async (taskDurationMs = 20) => {
  const world = readWorld(readState());
  // How long the tasks of another service take is not ours to say.
  if (SERVICE_BASE_URL) vi.setConfig({ testTimeout: 300_000 });
  const baseUrl = SERVICE_BASE_URL || (await startEmbedded(world.state, taskDurationMs));
  return { ...world, ...talkTo(baseUrl.replace(/\/$/, "")) };
};
