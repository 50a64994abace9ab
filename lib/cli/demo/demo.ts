import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pc from "picocolors";
import { commandKey, commands, isEnded } from "../../engine/command.ts";
import { readRejections } from "../../engine/rejection.ts";
import { aiTaskKey, aiTasks } from "../../jobs/ai-tasks/ai-task.ts";
import { priceItemKey, priceItems } from "../../jobs/prices/price.ts";
import { readThresholdConfig } from "../../jobs/thresholds/config.ts";
import { listThresholds, planChanges } from "../../jobs/thresholds/threshold.ts";
import type { Automation } from "../../local/automation.ts";
import { LOCAL_SENDER } from "../../local/aws-events.ts";
import { readText } from "../config-files.ts";
import { printNote } from "../render.ts";
import type { StartSettings } from "../start-settings.ts";
import { parseTeamConfig } from "../team-config.ts";
import { DEMO_COMMANDS, type DemoCommand } from "./commands.ts";
import * as world from "./world.ts";

/** Far more than the demo needs, even after a kill in its middle. */
const MAX_DEMO_MS = 120_000;
const CHECK_MS = 100;
/** The steps are apart, so that a person sees one after the other. */
const PUT_AT_MS = 2_000;
const EDIT_AT_MS = 3_000;
/** A little later than the change itself, as the service's clock may be read first. */
const SNAPSHOT_AT_MS = world.DEMO_CHANGE_MS + 200;

/** One step of the demo: what goes in, and what must come of it. */
interface Step {
  readonly id: string;
  /** When it begins, milliseconds after the start of the demo; absent: 0. */
  readonly at?: number;
  begin?(signal: AbortSignal): Promise<unknown>;
  readonly expected: string;
  /** How it has ended, in the words of `expected`; undefined until then. */
  end(): Promise<string | undefined>;
}

/** A request of a command as a step: sent by us, or made of another AWS account's event. */
const commandStep = (
  { deps: { ledger } }: Automation,
  sender: string,
  commandId: string,
  step: Omit<Step, "end">,
): Step => ({
  ...step,
  async end() {
    const command = (await commands.read(ledger, commandKey({ sender, id: commandId })))?.value;
    if (!command) {
      const [rejection] = await readRejections(ledger, sender, commandId);
      return rejection && `rejected: ${rejection.reason}`;
    }
    // A later run's event has another time, so its request is rejected; the command of the first stands.
    if (!isEnded(command) || !command.state.settled) return undefined;
    const { status, outcome, reason } = command.state;
    const end = `${status}: ${outcome ?? reason}`;
    // After a lost reply a success is published as done, even where nothing was to be done: which of
    // the two sends had the effect is unknown.
    const isEither = command.lostReplies > 0 && step.expected.startsWith("succeeded");
    return isEither && end === "succeeded: done" ? step.expected : end;
  },
});

const sentStep = (
  automation: Automation,
  { id, operation, params, body, expected }: DemoCommand,
): Step =>
  commandStep(automation, LOCAL_SENDER, id, {
    id,
    expected,
    begin() {
      const data = { operation, params, ...(body !== undefined && { body }) };
      // A new event each run: the queue drops an event that it has seen, and with it the answer.
      const metadata = { id: automation.deps.random.uuid(), commandId: id };
      return automation.send(JSON.stringify({ metadata, data }));
    },
  });

/** An event of an AWS account with rights, and the same event of one without. */
const teamSteps = async (automation: Automation): Promise<readonly Step[]> => {
  const { routes } = automation;
  const put = (id: string, account: string, expected: string): Step =>
    commandStep(automation, account, `${world.DEMO_EVENT_ID}:${world.DEMO_REACTION}`, {
      ...{ id, at: PUT_AT_MS, expected },
      begin: () => routes.put({ ...world.DEMO_EVENT, account, id: world.DEMO_EVENT_ID }),
    });
  const paid = put("demo-paid-invoice", world.DEMO_TEAM, "succeeded: done");
  // Its end must come to the team's own bus, too; the end of an earlier run came in that run.
  let isReported = (await paid.end()) !== undefined;
  routes.subscribeAs(world.DEMO_TEAM, async ({ "detail-type": type }) => {
    isReported ||= type !== "CommandAccepted";
  });
  return [
    { ...paid, end: async () => (isReported ? paid.end() : undefined) },
    put("demo-stranger", world.DEMO_STRANGER, "rejected: not-allowed"),
  ];
};

/** Empty for a file that a person has removed or made unreadable. */
const textOf = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

/** The provider follows the file: the demo's text, the demo's edit of it, or a person's. */
const thresholdsStep = ({ deps: { clock }, jobAccount }: Automation, file: string): Step => {
  const end = async (): Promise<string | undefined> => {
    const config = readThresholdConfig(await textOf(file));
    const actual = await listThresholds(jobAccount.client).catch(() => undefined);
    if (config.kind === "invalid" || !actual) return undefined;
    const { thresholds, prune } = config.value;
    return planChanges(thresholds, actual, prune).changes.length === 0 ? "as wanted" : undefined;
  };
  const begin = async (signal: AbortSignal): Promise<void> => {
    // The demo edits its own text only, and once the provider has followed that.
    while (!signal.aborted && (await textOf(file)) === world.DEMO_THRESHOLDS) {
      if ((await end()) === undefined) await clock.sleep(CHECK_MS, signal);
      else {
        printNote(pc.dim(`(the demo edits ${file})`));
        await writeFile(file, world.DEMO_THRESHOLDS_EDITED);
      }
    }
  };
  return { id: "demo-thresholds", at: EDIT_AT_MS, begin, expected: "as wanted", end };
};

const pricesStep = ({ deps, jobAccount }: Automation): Step => ({
  id: "demo-prices",
  expected: `captured at ${world.DEMO_PRICE_AFTER}`,
  async end() {
    const key = priceItemKey(jobAccount.name, world.DEMO_PRICE_ITEM);
    const item = (await priceItems.read(deps.ledger, key))?.value;
    const end = `captured at ${item?.latest?.reading.amounts["per_hour.flavor"]}`;
    return end === this.expected && item?.outbox.length === 0 ? end : undefined;
  },
});

const aiTaskStep = ({ deps, jobAccount }: Automation): Step => ({
  id: "demo-ai-task",
  expected: "SUCCESS",
  async end() {
    const key = aiTaskKey({ account: jobAccount.name, taskId: world.DEMO_AI_TASK });
    const task = (await aiTasks.read(deps.ledger, key))?.value;
    return task?.state.kind === "ended" && task.outbox.length === 0 ? task.state.status : undefined;
  },
});

/** Begins each step at its time, and waits until all have ended. */
const run = async (
  steps: readonly Step[],
  { deps: { clock }, bus, snapshotPrices }: Automation,
  signal: AbortSignal,
) => {
  const startedAt = clock.now();
  const until = (at: number) => clock.sleep(startedAt + at - clock.now(), signal);
  for (const { at = 0, begin } of steps) {
    await until(at);
    if (!signal.aborted) await begin?.(signal);
  }
  await until(SNAPSHOT_AT_MS);
  if (!signal.aborted) await snapshotPrices();
  for (;;) {
    const ends = await Promise.all(steps.map((step) => step.end()));
    const isOver = signal.aborted || clock.now() >= startedAt + MAX_DEMO_MS;
    if (isOver || ends.every((end) => end !== undefined)) {
      await bus.delivered();
      const others = steps.flatMap(({ id, expected }, index) => {
        const end = ends[index] ?? "not ended";
        return end === expected ? [] : [`  ${id}: expected ${expected}, was ${end}`];
      });
      const count = `${steps.length - others.length} of ${steps.length}`;
      const summary = [`${count} steps of the demo ended as expected`, ...others].join("\n");
      return { isAsExpected: others.length === 0, summary };
    }
    await clock.sleep(CHECK_MS, signal);
  }
};

/** A file of an earlier run stays: a person may have edited it. */
const writeNew = (file: string, text: string): Promise<void> =>
  writeFile(file, text, { flag: "wx" }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  });

/**
 * Plans the demo in the folder where the run keeps its state, or in one that goes with the run. The
 * demo neither writes a file that the person has named nor expects anything of it.
 * @throws ExitError when a file that a person has edited is wrong
 */
export const planDemo = async ({
  directory,
  jobs: chosen,
  teams: named,
  eventSource,
}: StartSettings) => {
  const folder = directory ?? (await mkdtemp(join(tmpdir(), "skyhook-demo-")));
  const thresholdsFile = chosen.thresholdsFile ?? join(folder, "thresholds.yaml");
  const watchlistFile = chosen.watchlistFile ?? join(folder, "watchlist.yaml");
  const accountsFile = join(folder, "accounts.yaml");
  const reactionsFile = join(folder, "reactions.yaml");
  const files = { accountsFile, reactionsFile };
  const hasTeams = named.accountsFile === undefined && named.reactionsFile === undefined;
  const texts = {
    accounts: (hasTeams ? readText(accountsFile) : undefined) ?? world.DEMO_ACCOUNTS,
    reactions: (hasTeams ? readText(reactionsFile) : undefined) ?? world.DEMO_REACTIONS,
  };
  const teams = hasTeams
    ? { files, texts, config: parseTeamConfig(files, texts, eventSource) }
    : undefined;
  const isDemoTeams =
    hasTeams && texts.accounts === world.DEMO_ACCOUNTS && texts.reactions === world.DEMO_REACTIONS;
  return {
    jobs: { ...chosen, thresholdsFile, watchlistFile },
    teams,
    /**
     * Writes the files that are missing. To be called when the folder is known to be ours, and before
     * the automation starts.
     * @returns what runs every step to its end
     */
    async prepare(automation: Automation) {
      if (!chosen.thresholdsFile) await writeNew(thresholdsFile, world.DEMO_THRESHOLDS);
      if (!chosen.watchlistFile) await writeNew(watchlistFile, world.DEMO_WATCHLIST);
      if (hasTeams) await writeNew(accountsFile, texts.accounts);
      if (hasTeams) await writeNew(reactionsFile, texts.reactions);
      // The end of an edited file is not known: its owner decides what it leads to.
      const isDemoList = (await textOf(watchlistFile)) === world.DEMO_WATCHLIST;
      const steps = [
        ...DEMO_COMMANDS.map((command) => sentStep(automation, command)),
        ...(isDemoTeams ? await teamSteps(automation) : []),
        ...(chosen.thresholdsFile ? [] : [thresholdsStep(automation, thresholdsFile)]),
        ...(isDemoList ? [pricesStep(automation)] : []),
        aiTaskStep(automation),
      ];
      return (signal: AbortSignal) => run(steps, automation, signal);
    },
    /** Removes the files, if they are for this run only. */
    async remove() {
      if (directory === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
};

export type Demo = Awaited<ReturnType<typeof planDemo>>;
