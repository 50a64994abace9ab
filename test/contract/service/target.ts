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
 * The service under test. Without SERVICE_BASE_URL each file starts the embedded service. With it, all files
 * share the service at that URL, which keeps its state between runs, so run the files one by one.
 * - SERVICE_API_KEY: key to use; default: the first built-in key.
 * - SERVICE_OTHER_API_KEY: key of another client; default: the second built-in key.
 * - SERVICE_STATE: JSON file with the initial state of that service; default: the built-in state.
 */
const { SERVICE_BASE_URL, SERVICE_STATE } = process.env;
const API_KEY = process.env.SERVICE_API_KEY || BUILT_IN_API_KEYS.first;
const OTHER_API_KEY = process.env.SERVICE_OTHER_API_KEY || BUILT_IN_API_KEYS.second;

/** An id that no record has. */
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

/** A name of letters, digits and a hyphen that no other run or test uses. */
export const uniqueName = (prefix: string): string =>
  `${prefix}-${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;

/** Checks that the response is a 400 of the cloud family and returns the fields that it lists. */
export const refusedFields = ({ status, body }: Answer): string[] => {
  expect({ status, class: body?.exception_class }).toEqual({
    status: 400,
    class: "ValidationError",
  });
  return Object.keys(body.invalid_fields).sort();
};

/** Location of a record as part of a path. */
export const place = ({ project_id, region_id }: Located): string => `${project_id}/${region_id}`;

/** The initial state of the service, reduced to the records that the key can see. */
const readWorld = (state: State) => {
  const sha256 = createHash("sha256").update(API_KEY).digest("hex");
  const key = state.keys.find((one) => one.sha256 === sha256);
  // A key that is not in the state belongs to client 1 and opens every project.
  const client = key?.client_id ?? 1;
  const projects = key?.project_ids ?? [...new Set(state.containers.map((one) => one.project_id))];
  const isOwn = (record: object): boolean =>
    (!("project_id" in record) || projects.some((id) => id === record.project_id)) &&
    (!("client_id" in record) || record.client_id === client);

  const own = <C extends CollectionName>(collection: C): readonly RecordOf<C>[] => {
    const records: readonly RecordOf<C>[] = state[collection];
    return records.filter(isOwn);
  };
  /** The first visible record that the test can use. */
  const one = <C extends CollectionName>(
    collection: C,
    isUsable: (record: RecordOf<C>) => boolean = () => true,
  ): RecordOf<C> => {
    const found = own(collection).find(isUsable);
    if (found === undefined) throw new Error(`no record in ${collection} fits this test`);
    return found;
  };
  /** Locations that do not contain the record. */
  const elsewhere = ({ project_id, region_id }: Located): [string, string][] => [
    ["another region", `${project_id}/${region_id + 100_000}`],
    ["another project", `${projects.find((id) => id !== project_id) ?? 999_999_998}/${region_id}`],
    ["an unknown project", `999999999/${region_id}`],
  ];
  /** The present price list of a region. */
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

  /** Polls a task until it has ended and returns its record. */
  const follow = async (taskId: string): Promise<Answer["body"]> => {
    for (let poll = 0; poll < POLLS; poll += 1) {
      const { body } = await call("GET", `/v1/tasks/${taskId}`);
      if (body.state === "FINISHED" || body.state === "ERROR") return body;
      await pause(Math.min(FIRST_PAUSE_MS * 1.2 ** poll, LONGEST_PAUSE_MS));
    }
    throw new Error(`task ${taskId} has not ended after ${POLLS} polls`);
  };

  /** Sends a request that starts one task and returns its record when it has ended. */
  const runTask = async (method: string, path: string, body: unknown): Promise<Answer["body"]> => {
    const accepted = await call(method, path, { body });
    expect(accepted).toMatchObject({ status: 200, body: { tasks: [expect.any(String)] } });
    return follow(accepted.body.tasks[0]);
  };

  /** Tries to create a storage event and deletes it at the end of the test. */
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

/** Request headers of another client. */
export const AS_OTHER_CLIENT = { authorization: `apikey ${OTHER_API_KEY}` };
/** The two parts of a valid `Authorization` header. */
export const [SCHEME, KEY] = ["apikey", API_KEY];

/** Opens the service under test. Call it at the top of a test file; the embedded service stops with the file. */
export const openTarget = async (taskDurationMs = 20) => {
  const world = readWorld(readState());
  // The duration of tasks at another service is unknown.
  if (SERVICE_BASE_URL) vi.setConfig({ testTimeout: 300_000 });
  const baseUrl = SERVICE_BASE_URL || (await startEmbedded(world.state, taskDurationMs));
  return { ...world, ...talkTo(baseUrl.replace(/\/$/, "")) };
};
