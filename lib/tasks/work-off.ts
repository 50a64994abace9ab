import type { CommandDeps } from "../commands/deps.ts";
import { lookAtCommand, lookAtLane } from "../commands/look.ts";
import { aiTasks } from "../ledger/ai-task.ts";
import { budgets } from "../ledger/budget.ts";
import { commands } from "../ledger/command.ts";
import { lanes } from "../ledger/lane.ts";
import { priceItems, priceRuns } from "../ledger/price.ts";
import { thresholdSyncs } from "../ledger/threshold-sync.ts";
import { onEach, type RunMemory, splitKey } from "./run-memory.ts";

/** Records of the standing jobs, and budgets, are due while an event of theirs is not published. */
const OUTBOXES = new Map(
  [thresholdSyncs, priceItems, priceRuns, aiTasks, budgets].map(({ kind, publish }) => [
    kind,
    publish,
  ]),
);

const workOn = async (deps: CommandDeps, entryKey: string): Promise<void> => {
  const [kind, key] = splitKey(entryKey);
  const publishOutbox = OUTBOXES.get(kind);
  if (publishOutbox) return publishOutbox(deps, key);
  if (kind === commands.kind) return lookAtCommand(deps, key);
  if (kind === lanes.kind) return lookAtLane(deps, key);
  throw new Error(`nobody looks after ledger items of kind ${kind}`);
};

/** Works off what is due but for tasks: no provider is asked for any of it. */
export const workOff = (
  deps: CommandDeps,
  memory: RunMemory,
  keys: readonly string[],
): Promise<void> => onEach(deps, memory, keys, (key) => workOn(deps, key));
