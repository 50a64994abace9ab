import type { Clock } from "../../../../lib/platform/ports/clock.ts";
import { createService, type Service } from "../../../../lib/service/service.ts";
import type { AiTaskRecord } from "../../../../lib/service/state/ai-tasks.ts";
import { BUILT_IN_API_KEYS } from "../../../../lib/service/state/keys.ts";
import { builtInState } from "../../../../lib/service/state/state.ts";
import { createMemoryStore } from "../../../../lib/service/store.ts";
import { json } from "../../../support/provider.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";

/** 2026-01-01T00:00:00Z, where the virtual clock starts. */
const START = Date.UTC(2026, 0, 1);

export const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** Id of task number n; a higher number was started later. */
export const aiTask = (
  n: number,
  status: AiTaskRecord["status"],
  own: Partial<AiTaskRecord> = {},
): AiTaskRecord => {
  const started = new Date(START - 10_000_000 + n * 1000).toISOString();
  return {
    client_id: 1,
    task_id: idOf(n),
    task_name: "transcription",
    task_data: {},
    status,
    progress: 5,
    date_created: started,
    started_at: started,
    plan: [],
    plan_from: null,
    ...own,
  };
};

export const aiTasksOf = (
  from: number,
  to: number,
  status: AiTaskRecord["status"],
): AiTaskRecord[] =>
  Array.from({ length: to - from + 1 }, (_, index) => aiTask(from + index, status));

/**
 * The embedded service with AI tasks that the test sets. Its interface can neither create nor remove them.
 */
export const createAiProvider = (
  clock: Clock,
  initial: readonly AiTaskRecord[] | ((now: number) => readonly AiTaskRecord[]),
) => {
  let tasksAt = typeof initial === "function" ? initial : () => initial;
  let pageCap = Number.POSITIVE_INFINITY;
  let beforeRequest = (_query: URLSearchParams): Response | undefined => undefined;
  let afterReply = (body: unknown): unknown => body;
  let current: { readonly text: string; readonly service: Service } | undefined;
  const queries: URLSearchParams[] = [];

  const serviceNow = async (): Promise<Service> => {
    const ai_tasks = [...tasksAt(clock.now())];
    const text = JSON.stringify(ai_tasks);
    if (current?.text === text) return current.service;
    const service = await createService({
      clock,
      random: createSeededRandom(7),
      store: createMemoryStore(),
      initialState: { ...builtInState(), ai_tasks },
      taskDurationMs: 10_000,
      onFault: (error) => {
        throw error;
      },
    });
    current = { text, service };
    return service;
  };

  return {
    apiKey: BUILT_IN_API_KEYS.first,
    async fetch(request: Request): Promise<Response> {
      const url = new URL(request.url);
      const query = new URLSearchParams(url.searchParams);
      queries.push(query);
      const instead = beforeRequest(query);
      if (instead) return instead;
      const limit = Math.min(Number(query.get("limit") ?? 10), pageCap);
      url.searchParams.set("limit", String(limit));
      const service = await serviceNow();
      const reply = await service.fetch(new Request(url, { headers: request.headers }));
      return json(reply.status, afterReply(await reply.json()));
    },
    /** Replaces the tasks. */
    show(tasks: readonly AiTaskRecord[]): void {
      tasksAt = () => tasks;
    },
    /** Limits the tasks of a page, whatever limit a request has. */
    capPages(size: number): void {
      pageCap = size;
    },
    /** Intercepts requests: a response that it returns is sent instead of the service's. */
    beforeRequest(next: typeof beforeRequest): void {
      beforeRequest = next;
    },
    afterReply(next: typeof afterReply): void {
      afterReply = next;
    },
    /** Pages requested since the last call. */
    takePages(): readonly number[] {
      const taken = queries.filter((query) => !query.has("task_id"));
      queries.length = 0;
      return taken.map((query) => Number(query.get("page")));
    },
    /** Tasks requested by id since the last call. */
    takeAsked(): readonly string[] {
      const taken = queries.map((query) => query.get("task_id"));
      queries.length = 0;
      return taken.filter((id) => id !== null);
    },
    /** Query of the last request. */
    lastQuery: () => queries.at(-1),
  };
};

export type AiProvider = ReturnType<typeof createAiProvider>;
