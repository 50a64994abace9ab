import { endFullRead, goOnFrom } from "./ai-watch.ts";
import { aiTaskPages } from "./ask.ts";
import { type Finding, findingsOf, recordPage } from "./findings.ts";
import { type AiTaskRun, changeWatch } from "./run.ts";

/** Bounds what a run keeps in memory, and how long it reads before it records anything. */
const MAX_NEW = 2_000;

const isKnown = ({ kind }: Finding): boolean => kind === "followed" || kind === "recorded";

/** Tasks at work may fill a page above ends that nobody has seen, so one end must be among them. */
const isOldGround = (findings: readonly Finding[]): boolean =>
  findings.every(isKnown) && findings.some(({ kind }) => kind === "recorded");

/**
 * Reads the list from its newest page to the first that is known, and records what is new: from the
 * oldest page to the newest, so that a run that dies on the way leaves nothing unknown below a page
 * at which the next one stops.
 * @returns false, and records nothing, when more is new than is kept
 */
export const recordNew = async (run: AiTaskRun): Promise<boolean> => {
  const pages: (readonly Finding[])[] = [];
  let newTasks = 0;
  for await (const { tasks } of aiTaskPages(run, 1)) {
    const findings = await findingsOf(run, tasks);
    pages.push(findings);
    newTasks += findings.filter((finding) => !isKnown(finding)).length;
    if (newTasks > MAX_NEW) return false;
    if (isOldGround(findings)) break;
  }
  for (const findings of pages.toReversed()) await recordPage(run, findings);
  return true;
};

/**
 * Reads the whole list, and records page after page. A reading that was cut off goes on where it was;
 * what was new in the list since then only shows tasks again.
 */
export const readWhole = async (run: AiTaskRun): Promise<void> => {
  for await (const { page, tasks } of aiTaskPages(run, run.watch.nextPage ?? 1)) {
    // Before the page: what is recorded of it must not hide what is below if this run dies.
    await changeWatch(run, (watch) => goOnFrom(watch, page));
    await recordPage(run, await findingsOf(run, tasks));
  }
  await changeWatch(run, (watch) => endFullRead(watch, run.deps.clock.now()));
};
