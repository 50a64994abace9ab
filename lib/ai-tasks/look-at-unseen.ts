import pLimit from "p-limit";
import type { OpenAiTask, OpenLook } from "../ledger/ai-watch.ts";
import type { Random } from "../ports/random.ts";
import { askForTask } from "./ask.ts";
import type { AiTaskRun } from "./run.ts";
import { hasEnded } from "./shown-task.ts";
import { tellEnd, tellVanishing } from "./tell.ts";

const MAX_AT_ONCE = 4;
/** The provider may not show a task for a moment; one that it has not known for so long is gone. */
const MISSING_FOR_MS = 5 * 60 * 1000;

const lookMissing = async (run: AiTaskRun, task: OpenAiTask): Promise<OpenLook> => {
  const now = run.deps.clock.now();
  const { missingSince = now } = task;
  if (now - missingSince < MISSING_FOR_MS) return { kind: "missing", since: missingSince };
  await tellVanishing(run, task, missingSince);
  return { kind: "vanished", missingSince };
};

const lookAt = async (run: AiTaskRun, task: OpenAiTask): Promise<OpenLook> => {
  const shown = await askForTask(run, task.taskId);
  if (!shown) return lookMissing(run, task);
  if (!hasEnded(shown)) return { kind: "present" };
  await tellEnd(run, shown);
  return { kind: "ended" };
};

/** Runs whose time is short leave others out each time. */
const shuffled = <T>(entries: readonly T[], random: Random): readonly T[] =>
  entries
    .map((entry) => ({ entry, place: random.fraction() }))
    .sort((a, b) => a.place - b.place)
    .map(({ entry }) => entry);

/**
 * Asks for followed tasks that the list did not show, one by one, while there is time. Ends and
 * vanishings are recorded and told of at once; a look that fails decides nothing.
 * @returns what was seen, by task id
 */
export const lookAtUnseen = async (
  run: AiTaskRun,
  unseen: readonly OpenAiTask[],
): Promise<ReadonlyMap<string, OpenLook>> => {
  const { log, random } = run.deps;
  const looks = new Map<string, OpenLook>();
  const errors: unknown[] = [];
  const limit = pLimit(MAX_AT_ONCE);
  await limit.map(shuffled(unseen, random), async (task) => {
    try {
      looks.set(task.taskId, await lookAt(run, task));
    } catch (error) {
      errors.push(error);
    }
  });
  const [first] = errors;
  if (first !== undefined) {
    log.warn("AI tasks not looked at, they stay followed", {
      account: run.accountName,
      count: errors.length,
      errorMessage: first instanceof Error ? first.message : String(first),
    });
  }
  return looks;
};
