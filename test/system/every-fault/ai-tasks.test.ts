import { expect } from "vitest";
import type { Clock } from "../../../lib/platform/ports/clock.ts";
import type { AiTaskRecord } from "../../../lib/service/state/ai-tasks.ts";
import type { Fetch } from "../../support/provider.ts";
import { aiTask, aiTasksOf, createAiProvider, idOf } from "../../unit/jobs/ai-tasks/ai-provider.ts";
import type { Cloud } from "./cloud.ts";
import { describeScenarios } from "./laws.ts";

const MINUTE_MS = 60_000;
/** Start of the virtual clock: 2026-01-01T00:00:00Z, epoch ms. */
const START = Date.UTC(2026, 0, 1);
const WAITING = { started_at: null };

interface Step {
  readonly fromMs: number;
  readonly tasks: readonly AiTaskRecord[];
}

/** The provider's list at each time, on pages of three. */
const listing =
  (steps: readonly Step[]) =>
  (_service: Fetch, clock: Clock): Fetch => {
    const tasksAt = (now: number): readonly AiTaskRecord[] =>
      steps.findLast(({ fromMs }) => START + fromMs <= now)?.tasks ?? [];
    const provider = createAiProvider(clock, tasksAt);
    provider.capPages(3);
    const headers = { authorization: `apikey ${provider.apiKey}` };
    return (request) => provider.fetch(new Request(request, { headers }));
  };

/** Minutes with a tick. */
const tickAt = async (cloud: Cloud, minutes: readonly number[]): Promise<void> => {
  for (const minute of minutes) {
    await cloud.pass(START + minute * MINUTE_MS - cloud.timeline.now());
    cloud.tick("watch-ai-tasks");
  }
};

/** Subjects of the published events, each once. */
const toldOf = ({ bus }: Cloud, detailType: string): readonly string[] => [
  ...new Set(
    bus
      .published()
      .filter((event) => event.detailType === detailType)
      .map(({ data }) => data.taskId)
      .toSorted(),
  ),
];

// The scheduled job that publishes the ends of AI tasks. The next tick is the retry of a failed
// one.
describeScenarios([
  {
    name: "AI tasks that end, among more new ones than a page holds",
    between: listing([
      { fromMs: 0, tasks: [...aiTasksOf(1, 3, "SUCCESS"), aiTask(4, "STARTED")] },
      {
        // A killed run delays its successors by at most a minute.
        fromMs: 2 * MINUTE_MS,
        tasks: [
          ...aiTasksOf(1, 4, "SUCCESS"),
          aiTask(5, "SUCCESS"),
          aiTask(6, "STARTED"),
          aiTask(7, "SUCCESS"),
          aiTask(8, "PENDING", WAITING),
          aiTask(9, "REVOKED", WAITING),
        ],
      },
    ]),
    course: (cloud) => tickAt(cloud, [0, 1, 2, 3, 4]),
    end: (cloud) => expect(toldOf(cloud, "AiTaskEnded")).toEqual([4, 5, 7, 9].map(idOf)),
    mayDiffer: [],
  },
  {
    name: "an AI task that vanishes",
    between: listing([
      { fromMs: 0, tasks: [aiTask(1, "SUCCESS"), aiTask(2, "STARTED")] },
      { fromMs: 2 * MINUTE_MS, tasks: [aiTask(1, "SUCCESS")] },
    ]),
    course: (cloud) => tickAt(cloud, [0, 1, 2, 3, 5, 8, 9, 14, 15]),
    end: (cloud) => expect(toldOf(cloud, "AiTaskVanished")).toEqual([idOf(2)]),
    mayDiffer: [],
  },
]);
