import type { LedgerItem } from "../../../lib/ports/ledger.ts";
import { builtInState } from "../../../lib/service/built-in/built-in-state.ts";
import { createService } from "../../../lib/service/service.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import type { Chance } from "../engine/chance.ts";
import type { Timeline } from "../engine/timeline.ts";
import type { Sent } from "../ports/provider.ts";
import type { TaskFates } from "../ports/task-fates.ts";
import type { Chronicle } from "./chronicle.ts";
import type { Caller } from "./observed-ledger.ts";
import { type SentCommands, signatureOf } from "./sent-commands.ts";

/** Functions that act for no command. */
const JOBS = ["sync-thresholds", "snapshot-prices", "watch-ai-tasks"];
/** How far the provider's clock may be from ours. */
const MAX_SKEW_MS = 15_000;

export interface ProviderSideOptions {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly apiKey: string;
  readonly fates: TaskFates;
  readonly chronicle: Chronicle;
  readonly sent: SentCommands;
  readonly items: ReadonlyMap<string, LedgerItem>;
}

/** Told who sends, and whether it is a standing job that may change something by it. */
type OnRequest = (caller: Caller, isJobMutation: boolean) => void;

const taskIdsOf = (status: number, text: string): readonly string[] => {
  if (status !== 200) return [];
  const { tasks = [] } = JSON.parse(text) as { readonly tasks?: readonly string[] };
  return tasks;
};

/** The real service, and the record of what left for it and what it did. */
export const openProviderSide = async (options: ProviderSideOptions) => {
  const { timeline, chance, apiKey, fates, chronicle, sent, items } = options;
  const skewMs = chance.between("skew provider", -MAX_SKEW_MS, MAX_SKEW_MS);
  const store = createMemoryStore();
  const faults: string[] = [];
  let jobMutations = 0;
  const listeners: OnRequest[] = [];
  const service = await createService({
    clock: { now: () => timeline.now() + skewMs, sleep: timeline.sleep },
    random: createSeededRandom(chance.between("random provider", 1, 2 ** 31)),
    store,
    initialState: builtInState(),
    taskDurationMs: chance.pick("task duration", [1_500, 8_000, 40_000]),
    apiKey,
    onFault: (error) => faults.push(String(error.stack)),
  });

  const answer = async ({ request, body }: Sent) => {
    const { method, url, headers } = request;
    const init = { method, headers, ...(body !== "" && { body }) };
    const response = await service.fetch(new Request(url, init));
    const text = await response.text();
    if (method !== "GET" || response.status !== 200) return { status: response.status, text };
    const shown = fates.shown(new URL(url), text, timeline.now());
    return shown === undefined
      ? { status: 404, text: '{"message":"task not found"}' }
      : { status: 200, text: shown };
  };

  const countOf = (command: string): number =>
    chronicle.effects.filter((effect) => effect.command === command).length;

  return {
    store,
    /** What the service could not do at all. */
    faults,
    /** How many requests that could change something have left the standing jobs. */
    jobMutations: () => jobMutations,
    /** Told of every request that leaves, whatever becomes of it. */
    onRequest: (listener: OnRequest): void => {
      listeners.push(listener);
    },
    /** Called when a request leaves a machine; the answer is called when, and if, it arrives. */
    leaves: (one: Sent, caller: Caller) => {
      const isOfJob = JOBS.some((name) => caller.name.startsWith(name));
      const isJobMutation = one.isMutation && isOfJob;
      if (isJobMutation) jobMutations += 1;
      for (const listener of listeners) listener(caller, isJobMutation);
      const whose =
        one.isMutation && !isOfJob
          ? sent.whose(signatureOf(one.request, one.body), caller, items)
          : undefined;
      if (one.isMutation && !isOfJob && !whose) {
        const text = `${one.request.method} ${one.request.url} left, and no command asks for it`;
        chronicle.violations.push({ invariant: 2, text });
      }
      if (whose) {
        const { key: command, lane, isLeased } = whose;
        const departure = { at: timeline.now(), sandbox: caller.name, command, lane, isLeased };
        chronicle.departures.push(departure);
      }
      return async () => {
        const { status, text } = await answer(one);
        if (!whose) return { status, text, lose: () => {} };
        const taskIds = taskIdsOf(status, text);
        let wasLost = false;
        const isLost = (): boolean => wasLost;
        const { key: command } = whose;
        for (const [index, id] of taskIds.entries()) {
          fates.decide(id, command, countOf(command) + index, timeline.now());
        }
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
