import type { LedgerItem } from "../../../../lib/platform/ports/ledger.ts";
import { createService } from "../../../../lib/service/service.ts";
import { createMemoryStore } from "../../../../lib/service/store.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import type { VirtualClock } from "../../../support/virtual-clock.ts";
import type { Chance } from "../engine/chance.ts";
import { accountAt } from "../plan/actors.ts";
import { CONFIG_STORAGE } from "../plan/configs.ts";
import { TAG_VALUES } from "../plan/guards.ts";
import type { ProviderPlan } from "../plan/plan.ts";
import { createCrowdedTasks } from "../ports/crowded-tasks.ts";
import type { Answer, Received, Sent } from "../ports/provider.ts";
import type { TaskFates } from "../ports/task-fates.ts";
import { API_KEY, type ApiKeys } from "./api-keys.ts";
import type { Chronicle } from "./chronicle.ts";
import type { Caller } from "./observed-ledger.ts";
import { type SentCommands, signatureOf } from "./sent-commands.ts";

const OWN_TASKS = "https://provider.test/cloud/v1/tasks?limit=1000&order_by=asc";
/** Functions without commands. */
const JOBS = ["sync-thresholds", "snapshot-prices", "watch-ai-tasks"];
/** Pause after a 429 without `Retry-After`: lib/provider/account-client.ts. */
const DEFAULT_PAUSE_SECONDS = 1;

export interface ProviderSideOptions {
  readonly plan: ProviderPlan;
  readonly timeline: VirtualClock;
  readonly chance: Chance;
  readonly keys: ApiKeys;
  readonly fates: TaskFates;
  readonly chronicle: Chronicle;
  readonly sent: SentCommands;
  readonly items: ReadonlyMap<string, LedgerItem>;
}

/** A request that left a machine. */
interface Leaving {
  readonly caller: Caller;
  readonly account: string;
  /** Whether it is a scheduled job's mutation. */
  readonly isJobMutation: boolean;
  readonly method: string;
  readonly url: URL;
  readonly body: string;
  /** Whether the provider accepts its key. */
  readonly isKeyAccepted: boolean;
}

/** A pause that the provider asked a machine for. */
interface Pause {
  readonly caller: Caller;
  readonly account: string;
  readonly pauseMs: number;
}

/** A refusal of the API key that a machine received. */
interface KeyRefusal {
  readonly caller: Caller;
  readonly account: string;
  readonly key: string;
}

/** A response that a machine received. */
interface Reply {
  readonly caller: Caller;
  readonly account: string;
  readonly url: URL;
  readonly status: number;
  /** When the request left, epoch ms on the caller's clock. */
  readonly sentAt: number;
  /** The provider's answer; absent when another response came in its place, or the answer was damaged. */
  readonly whole: Answer | undefined;
}

type Given = Pick<Answer, "status" | "text" | "open" | "ended">;

const tasksIn = ({ status, text }: Given): readonly string[] => {
  if (status !== 200) return [];
  const { tasks = [] } = JSON.parse(text) as { readonly tasks?: readonly string[] };
  return tasks;
};

const keyIn = ({ headers }: Request): string =>
  headers.get("authorization")?.split(" ").at(-1) ?? "";

/** The service, with a record of requests and effects. */
export const openProviderSide = async (options: ProviderSideOptions) => {
  const { plan, timeline, chance, keys, fates, chronicle, sent, items } = options;
  const store = createMemoryStore();
  const faults: string[] = [];
  let jobMutations = 0;
  const listeners: ((leaving: Leaving) => void)[] = [];
  const pauseListeners: ((pause: Pause) => void)[] = [];
  const refusalListeners: ((refusal: KeyRefusal) => void)[] = [];
  const replyListeners: ((reply: Reply) => void)[] = [];
  const crowded = plan.crowd && createCrowdedTasks(plan.crowd);
  /** Time that has passed at the service only, ms. */
  let passedMs = 0;
  const service = await createService({
    clock: { now: () => timeline.now() + plan.skewMs + passedMs, sleep: timeline.sleep },
    random: createSeededRandom(chance.between("random provider", 1, 2 ** 31)),
    store,
    initialState: plan.state,
    taskDurationMs: plan.taskMs,
    apiKey: API_KEY,
    onFault: (error) => faults.push(String(error.stack)),
  });

  const reach = plan.between?.(service.fetch, timeline) ?? service.fetch;

  const isKeyAccepted = ({ request }: Sent): boolean => keyIn(request) === keys.accepted();

  /** Sends a request to the service under the one key that it accepts. */
  const askService = (url: URL, method: string, given: Headers, body: string) => {
    const headers = new Headers(given);
    headers.set("authorization", `apikey ${API_KEY}`);
    const init = { method, headers, ...(body !== "" && { body }) };
    return reach(new Request(url, init));
  };

  /** The first page of all our tasks, with the decisions about them applied. */
  const readOwn = async (headers: Headers): Promise<string> => {
    const url = new URL(OWN_TASKS);
    const text = await (await askService(url, "GET", headers, "")).text();
    return fates.shown(url, text, timeline.now()) ?? text;
  };

  const answer = async (one: Sent): Promise<Given> => {
    if (!isKeyAccepted(one)) return { status: 401, text: '{"error":"token_not_valid"}' };
    const { request, body } = one;
    const { method } = request;
    const url = new URL(request.url);
    const at = timeline.now() + plan.skewMs;
    const ofCrowd = await crowded?.answer(url, at, () => readOwn(request.headers));
    if (ofCrowd) return ofCrowd;
    const response = await askService(fates.asked(url), method, request.headers, body);
    const text = await response.text();
    if (method === "GET" && fates.failsAt(url, timeline.now())) {
      return { status: 503, text: '{"message":"service unavailable"}' };
    }
    if (method !== "GET" || response.status !== 200) return { status: response.status, text };
    const shown = fates.shown(url, withTag(text), timeline.now());
    return shown === undefined
      ? { status: 404, text: '{"message":"task not found"}' }
      : { status: 200, text: shown };
  };

  const withTag = (text: string): string =>
    chronicle.tagChangedAt === undefined
      ? text
      : text.replace(`"value":"${TAG_VALUES[0]}"`, `"value":"${TAG_VALUES[1]}"`);

  /** Sends a request of another client. */
  const ask = (method: string, path: string, body: object): Promise<Response> =>
    service.fetch(
      new Request(`https://provider.test${path}`, {
        method,
        headers: { authorization: `apikey ${API_KEY}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );

  const countOf = (command: string): number =>
    chronicle.effects.filter((effect) => effect.command === command).length;

  /** The answer with all task ids that the provider reports. */
  const withFates = (given: Given, command: string, isUpdate: boolean): Given => {
    const at = timeline.now();
    const first = countOf(command);
    const own = tasksIn(given);
    for (const [index, id] of own.entries()) fates.decide(id, command, first + index, at);
    const [id] = own;
    const more = id !== undefined && isUpdate ? fates.more(id, command, first, at) : [];
    return more.length > 0
      ? { status: 200, text: JSON.stringify({ tasks: [...own, ...more] }) }
      : given;
  };

  /** Finds the command of a mutation; only commands may send one. */
  const commandOf = (one: Sent, caller: Caller) => {
    const whose = sent.whose(signatureOf(one.request, one.body), caller, items);
    if (!whose) {
      const text = `${one.request.method} ${one.request.url} was sent without a command`;
      chronicle.violations.push({ invariant: 2, text });
      return undefined;
    }
    const { key: command, lane, isLeased } = whose;
    const departure = { at: timeline.now(), sandbox: caller.name, command, lane, isLeased };
    chronicle.departures.push(departure);
    return command;
  };

  return {
    store,
    /** Tasks of other clients, with their ends. */
    foreignEnds: () => crowded?.ends() ?? [],
    /** Coverage of crowded lists. */
    metInLists: () => crowded?.met ?? [],
    inspect: service.inspect,
    /** Lets this time pass at the service only. */
    pass: (durationMs: number): void => {
      passedMs += durationMs;
    },
    /** Internal errors of the service. */
    faults,
    /** Number of mutations that scheduled jobs have sent. */
    jobMutations: () => jobMutations,
    onRequest: (listener: (leaving: Leaving) => void): void => {
      listeners.push(listener);
    },
    onPause: (listener: (pause: Pause) => void): void => {
      pauseListeners.push(listener);
    },
    onReply: (listener: (reply: Reply) => void): void => {
      replyListeners.push(listener);
    },
    onKeyRefused: (listener: (refusal: KeyRefusal) => void): void => {
      refusalListeners.push(listener);
    },
    /** Reports what a machine received: a refusal of its key, a request for a pause, or tasks. */
    received: (caller: Caller, { request, response, whole, sentAt }: Received): void => {
      const account = accountAt(request.url);
      const { status, headers } = response;
      if (status === 401) {
        for (const listener of refusalListeners) listener({ caller, account, key: keyIn(request) });
      }
      if (status === 429) {
        const pauseMs = Number(headers.get("retry-after") ?? DEFAULT_PAUSE_SECONDS) * 1_000;
        for (const listener of pauseListeners) listener({ caller, account, pauseMs });
      }
      for (const listener of replyListeners) {
        listener({ caller, account, url: new URL(request.url), status, whole, sentAt });
      }
    },
    ask,
    /** Creates or deletes a threshold of the config's storage, as another client. */
    meddle: (method: "POST" | "DELETE", bucket: string) =>
      ask(method, "/storage/notifications/v1/event", {
        name: "reaching_used_space",
        storage_name: CONFIG_STORAGE,
        bucket_name: bucket,
        bytes: 1,
      }),
    /**
     * Records a request that leaves a machine. The returned function delivers it; it is called only
     * if the request arrives.
     */
    leaves: (one: Sent, caller: Caller) => {
      const isOfJob = JOBS.some((name) => caller.name.startsWith(name));
      const isJobMutation = one.isMutation && isOfJob;
      if (isJobMutation) jobMutations += 1;
      const { method, url } = one.request;
      const account = accountAt(url);
      for (const listener of listeners) {
        const isAccepted = isKeyAccepted(one);
        listener({
          caller,
          account,
          isJobMutation,
          method,
          url: new URL(url),
          body: one.body,
          isKeyAccepted: isAccepted,
        });
      }
      const command = one.isMutation && !isOfJob ? commandOf(one, caller) : undefined;
      return async () => {
        const given = await answer(one);
        if (command === undefined) return { ...given, lose: () => {} };
        const { status, text } = withFates(given, command, method === "PATCH");
        const taskIds = tasksIn({ status, text });
        let wasLost = false;
        const isLost = (): boolean => wasLost;
        chronicle.effects.push({ at: timeline.now(), command, status, taskIds, isLost });
        const lose = (): void => {
          wasLost = true;
        };
        return { status, text, lose };
      };
    },
  };
};

export type ProviderSide = Awaited<ReturnType<typeof openProviderSide>>;
