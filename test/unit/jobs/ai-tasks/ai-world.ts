import { aiTaskKey, aiTasks } from "../../../../lib/jobs/ai-tasks/ai-task.ts";
import { aiWatches } from "../../../../lib/jobs/ai-tasks/ai-watch.ts";
import { watchAiTasks } from "../../../../lib/jobs/ai-tasks/watch-ai-tasks.ts";
import type { EventBus } from "../../../../lib/platform/ports/bus.ts";
import type { Clock } from "../../../../lib/platform/ports/clock.ts";
import { createRateLimitedClient } from "../../../../lib/provider/retrying-client.ts";
import { type Around, untouched } from "../../../support/faults.ts";
import { createRecordingLog } from "../../../support/logs.ts";
import { createMemoryLedger } from "../../../support/memory-ledger.ts";
import { grantingAccount, type Provider } from "../../../support/provider.ts";
import { createRecordingBus } from "../../../support/recording-bus.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import { createVirtualClock, type VirtualClock } from "../../../support/virtual-clock.ts";
import {
  type Call,
  watchedBus,
  watchedClient,
  watchedLedger,
} from "../../../support/watched-ports.ts";

const ACCOUNT = "local";
const RUN_MS = 50_000;
const STEP_MS = 50;

export interface RunOptions {
  readonly taskName?: string;
  /** The account's rate limit; none by default. */
  readonly requestsPerSecond?: number;
  readonly durationMs?: number;
}

interface WorldOptions {
  readonly provider: (clock: VirtualClock) => Provider;
  readonly around?: Around;
}

/** Ports of a run. Time passes only while the run sleeps, or when the test moves the clock. */
export const createAiWorld = ({ provider: open, around = untouched }: WorldOptions) => {
  const clock = createVirtualClock();
  const ledger = createMemoryLedger();
  const bus = createRecordingBus(ledger, "own");
  const log = createRecordingLog();
  const provider = open(clock);
  const calls: string[] = [];
  const lies: string[] = [];
  let invocations = 0;
  let asleep = 0;

  const countedClock: Clock = {
    now: clock.now,
    async sleep(durationMs, signal) {
      asleep += 1;
      await clock.sleep(durationMs, signal);
      asleep -= 1;
    },
  };

  const expectDurable = async (
    detailType: string,
    { taskId, since }: { readonly taskId: string; readonly since?: string },
  ): Promise<void> => {
    if (detailType.startsWith("AiTaskList")) {
      const list = (await aiWatches.read(ledger, ACCOUNT))?.value.list;
      const isStored = list !== undefined && new Date(list.since).toISOString() === since;
      if (!isStored) lies.push(`${detailType} since ${since}`);
      return;
    }
    const stored = await aiTasks.read(ledger, aiTaskKey({ account: ACCOUNT, taskId }));
    const kind = detailType === "AiTaskEnded" ? "ended" : "vanished";
    if (stored?.value.state.kind !== kind) lies.push(`${detailType} of ${taskId}`);
  };

  const truthfulBus: EventBus = {
    publish: async (entries) => {
      for (const { detailType, detail } of entries) {
        // The recording bus checks the rest of the event against the catalogue.
        await expectDurable(detailType, detail.data as Parameters<typeof expectDurable>[1]);
      }
      return bus.publish(entries);
    },
  };

  const portsOf = (invocation: number) => {
    const call: Call = (name, effect) => {
      calls.push(name);
      return around({ name, invocation }, effect);
    };
    const deps = {
      ledger: watchedLedger(call, ledger),
      bus: watchedBus(call, truthfulBus),
      clock: countedClock,
      random: createSeededRandom(invocation),
      log,
    };
    return { deps, client: watchedClient(call, provider, clock) };
  };

  /** Runs the job once. @returns the error that it rejected with, or undefined */
  const run = async (options: RunOptions = {}): Promise<unknown> => {
    invocations += 1;
    const { deps, client } = portsOf(invocations);
    const { taskName, requestsPerSecond = Number.POSITIVE_INFINITY } = options;
    const pace = { clock: countedClock, requestsPerSecond };
    const account = grantingAccount(ACCOUNT, createRateLimitedClient(client, pace));
    const durationMs = options.durationMs ?? RUN_MS;
    const over = new AbortController();
    void clock.sleep(durationMs).then(() => over.abort());
    const budget = { endsAt: clock.now() + durationMs, signal: over.signal };
    let isDone = false;
    const outcome = watchAiTasks(deps, { account, taskName }, budget)
      .then(
        () => undefined,
        (error: unknown) => error,
      )
      .finally(() => {
        isDone = true;
      });
    while (!isDone) await clock.advance(asleep > 0 ? STEP_MS : 0);
    return outcome;
  };

  /** Published events, with each repeat. */
  const published = () => {
    if (lies.length > 0) throw new Error(`published before it was durable: ${lies.join(", ")}`);
    return bus.published();
  };

  return {
    clock,
    ledger,
    bus,
    log,
    calls,
    run,
    published,
    /** Ids of tasks published as ended, with each repeat. */
    publishedEnds: (): readonly string[] =>
      published()
        .filter(({ detailType }) => detailType === "AiTaskEnded")
        .map(({ data }) => data.taskId),
    /** Publishes due events, as the poller does. */
    async poll(): Promise<void> {
      for (const { key } of await ledger.listDue(Number.MAX_SAFE_INTEGER, 10_000)) {
        const [kind, name = ""] = key.split(/#(.*)/s);
        const { publish } = kind === aiWatches.kind ? aiWatches : aiTasks;
        await publish({ ledger, bus, log }, name);
      }
    },
    /** The watch, without the times at which tasks were first seen: tests of the view read those. */
    watchRecord: async () => {
      const watch = (await aiWatches.read(ledger, ACCOUNT))?.value;
      return watch && { ...watch, open: watch.open.map(({ seenAt: _, ...task }) => task) };
    },
    record: async (taskId: string) =>
      (await aiTasks.read(ledger, aiTaskKey({ account: ACCOUNT, taskId })))?.value,
  };
};
