import pLimit from "p-limit";
import type { Random } from "../../platform/ports/random.ts";
import type { OpenAiTask, OpenLook } from "./ai-watch.ts";
import { askForTask } from "./ask.ts";
import { tellEnd, tellVanishing } from "./publish-ends.ts";
import { type AiTaskRun, requireLease } from "./run.ts";
import { endOf, hasEnded } from "./shown-task.ts";

const MAX_AT_ONCE = 4;
/** The provider may not show a task for a moment; one that it has not known for so long is gone. */
const MISSING_FOR_MS = 5 * 60 * 1000;
/** So many looks must have missed it: of the time alone a clock that jumps would make a moment. */
const MISSING_LOOKS = 3;

const lookMissing = async (run: AiTaskRun, task: OpenAiTask): Promise<OpenLook> => {
  const now = run.deps.clock.now();
  const { since, looks } = task.missing ?? { since: now, looks: 0 };
  const isGone = now - since >= MISSING_FOR_MS && looks + 1 >= MISSING_LOOKS;
  if (!isGone) return { kind: "missing", since, looks: Math.min(looks + 1, MISSING_LOOKS) };
  await tellVanishing(run, task, since);
  return { kind: "over" };
};

const lookAt = async (run: AiTaskRun, task: OpenAiTask): Promise<OpenLook> => {
  const shown = await askForTask(run, task.taskId);
  await requireLease(run);
  if (!shown) return lookMissing(run, task);
  if (!hasEnded(shown)) return { kind: "present" };
  await tellEnd(run, endOf(shown));
  return { kind: "over" };
};

/** Runs whose time is short leave others out each time. */
const shuffled = <T>(entries: readonly T[], random: Random): readonly T[] =>
  entries
    .map((entry) => ({ entry, place: random.fraction() }))
    .sort((a, b) => a.place - b.place)
    .map(({ entry }) => entry);

/**
 * Asks for followed tasks that the read pages did not show, one by one, while there is time. Ends and
 * vanishings are recorded and told of at once; a look that fails decides nothing.
 */
export const lookAtUnseen = async (run: AiTaskRun): Promise<void> => {
  const { log, random } = run.deps;
  const unseen = run.watch.open.filter(({ taskId }) => !run.looks.has(taskId));
  const errors: unknown[] = [];
  await pLimit(MAX_AT_ONCE).map(shuffled(unseen, random), async (task) => {
    try {
      run.looks.set(task.taskId, await lookAt(run, task));
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
};
