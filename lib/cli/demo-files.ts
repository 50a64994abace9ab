import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pc from "picocolors";
import { aiTaskKey, aiTasks } from "../jobs/ai-tasks/ai-task.ts";
import { priceItemKey, priceItems } from "../jobs/prices/price.ts";
import { readThresholdConfig } from "../jobs/thresholds/config.ts";
import { listThresholds } from "../jobs/thresholds/listed-thresholds.ts";
import { planChanges } from "../jobs/thresholds/plan.ts";
import type { Automation } from "../local/automation.ts";
import {
  DEMO_AI_TASK,
  DEMO_CHANGE_MS,
  DEMO_PRICE_ITEM,
  DEMO_THRESHOLDS,
  DEMO_THRESHOLDS_EDITED,
  DEMO_WATCHLIST,
} from "../local/demo-jobs.ts";
import type { JobChoice } from "../local/scheduled-jobs.ts";
import type { DemoStep } from "./demo-step.ts";
import { printNote } from "./output.ts";

/** So that a person sees one after the other. */
const EDIT_AFTER_MS = 3_000;
const LOOK_MS = 100;
/** A little later than the change itself, as the service's clock may be read first. */
const SECOND_SNAPSHOT_AFTER_MS = DEMO_CHANGE_MS + 200;

/** The configs of the demo, as files that people can look at and edit. */
export interface DemoFiles {
  readonly jobs: JobChoice;
  /** Where they are. */
  readonly folder: string;
  /**
   * Writes those that are not there; answers what is expected of the jobs by what the files say. To
   * be called when the folder is known to be ours, and before anybody reads.
   */
  write(): Promise<readonly DemoStep[]>;
  /** Does what a person, and time, would do to them. Resolves when all is done or the signal aborts. */
  play(automation: Automation, signal: AbortSignal): Promise<void>;
  /** Removes them, if they are for this run only. */
  remove(): Promise<void>;
}

/** Empty for a file that a person has taken away or made unreadable. */
const textOf = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

/** What the file says by now, the demo's edit or a person's. */
const thresholdsStep = (file: string): DemoStep => ({
  id: "demo-thresholds",
  expected: "as the file wants them",
  async look({ jobAccount }) {
    const config = readThresholdConfig(await textOf(file));
    if (config.kind === "invalid") return undefined;
    const actual = await listThresholds(jobAccount.client).catch(() => undefined);
    const { thresholds, prune } = config.value;
    const isSo = actual && planChanges(thresholds, actual, prune).changes.length === 0;
    return isSo ? this.expected : undefined;
  },
});

const PRICES_STEP: DemoStep = {
  id: "demo-prices",
  expected: "captured after the change",
  async look({ deps, jobAccount }) {
    const key = priceItemKey(jobAccount.name, DEMO_PRICE_ITEM);
    const item = (await priceItems.read(deps.ledger, key))?.value;
    const flavor = item?.latest?.reading.amounts["per_hour.flavor"];
    return flavor === "0.044" && item?.outbox.length === 0 ? this.expected : undefined;
  },
};

const AI_TASK_STEP: DemoStep = {
  id: "demo-ai-task",
  expected: "ended: SUCCESS",
  async look({ deps, jobAccount }) {
    const key = aiTaskKey({ account: jobAccount.name, taskId: DEMO_AI_TASK });
    const task = (await aiTasks.read(deps.ledger, key))?.value;
    return task?.state.kind === "ended" && task.outbox.length === 0
      ? `ended: ${task.state.status}`
      : undefined;
  },
};

/** What is there from an earlier run has perhaps been edited since. */
const writeNew = (file: string, text: string): Promise<void> =>
  writeFile(file, text, { flag: "wx" }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  });

/** The demo's own text only; what a person has made of it stays. */
const editOnceSynced = async (
  file: string,
  automation: Automation,
  signal: AbortSignal,
): Promise<void> => {
  const step = thresholdsStep(file);
  while (!signal.aborted && (await textOf(file)) === DEMO_THRESHOLDS) {
    if ((await step.look(automation)) !== undefined) {
      printNote(pc.dim(`(the demo edits ${file})`));
      return writeFile(file, DEMO_THRESHOLDS_EDITED);
    }
    await automation.deps.clock.sleep(LOOK_MS, signal);
  }
};

/**
 * Plans the demo's configs: in the folder where the run keeps its state, or in one that goes with
 * the run. A file that the person has named is theirs: the demo neither writes it nor expects
 * anything of it.
 */
export const planDemoFiles = async (
  chosen: JobChoice,
  directory: string | undefined,
): Promise<DemoFiles> => {
  const folder = directory ?? (await mkdtemp(join(tmpdir(), "skyhook-demo-")));
  const isOurs = {
    thresholds: chosen.thresholdsFile === undefined,
    watchlist: chosen.watchlistFile === undefined,
  };
  const thresholdsFile = chosen.thresholdsFile ?? join(folder, "thresholds.yaml");
  const watchlistFile = chosen.watchlistFile ?? join(folder, "watchlist.yaml");
  return {
    jobs: { ...chosen, thresholdsFile, watchlistFile },
    folder,
    async write() {
      if (isOurs.thresholds) await writeNew(thresholdsFile, DEMO_THRESHOLDS);
      if (isOurs.watchlist) await writeNew(watchlistFile, DEMO_WATCHLIST);
      // Of a list that a person has edited nobody knows what it costs.
      const isDemoList = (await textOf(watchlistFile)) === DEMO_WATCHLIST;
      return [
        ...(isOurs.thresholds ? [thresholdsStep(thresholdsFile)] : []),
        ...(isDemoList ? [PRICES_STEP] : []),
        AI_TASK_STEP,
      ];
    },
    async play(automation, signal) {
      const { clock } = automation.deps;
      const startedAt = clock.now();
      await clock.sleep(EDIT_AFTER_MS, signal);
      if (isOurs.thresholds) await editOnceSynced(thresholdsFile, automation, signal);
      await clock.sleep(startedAt + SECOND_SNAPSHOT_AFTER_MS - clock.now(), signal);
      if (!signal.aborted) await automation.snapshotPrices();
    },
    async remove() {
      if (directory === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
};
