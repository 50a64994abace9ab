import type { AiTaskRecord } from "../../../../lib/service/state/ai-tasks.ts";
import type { Around } from "../../../support/faults.ts";
import { type AiProvider, createAiProvider } from "./ai-provider.ts";
import { createAiWorld } from "./ai-world.ts";

/** A world with these AI tasks at the embedded service. */
export const watchedWorld = (tasks: Parameters<typeof createAiProvider>[1], around?: Around) => {
  let opened: AiProvider | undefined;
  const world = createAiWorld({
    provider: (clock) => {
      opened = createAiProvider(clock, tasks);
      return opened;
    },
    ...(around && { around }),
  });
  const provider = opened!;
  return { world, provider };
};

/** Like `watchedWorld`, after the baseline. */
export const startWatching = async (tasks: readonly AiTaskRecord[], around?: Around) => {
  const started = watchedWorld(tasks, around);
  const error = await started.world.run();
  if (error !== undefined) throw error;
  started.provider.takePages();
  return started;
};

/** Ledger writes other than those of the lease. */
export const recordedBy = (calls: readonly string[]): readonly string[] =>
  calls.filter((call) => /^ledger\.write (?!lease#)/.test(call));
