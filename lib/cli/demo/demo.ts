import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pc from "picocolors";
import { readTasksOf } from "../../admin/command-tasks.ts";
import { eventsOf } from "../../admin/derived-events.ts";
import { commandKey, commands, isEnded } from "../../engine/command.ts";
import { readRejections } from "../../engine/rejection.ts";
import { aiTaskKey, aiTasks } from "../../jobs/ai-tasks/ai-task.ts";
import { priceItemKey, priceItems } from "../../jobs/prices/price.ts";
import { readThresholdConfig } from "../../jobs/thresholds/config.ts";
import { listThresholds, planChanges } from "../../jobs/thresholds/threshold.ts";
import type { Automation } from "../../local/automation.ts";
import { LOCAL_SENDER } from "../../local/local-sender.ts";
import { readText } from "../config-files.ts";
import { printNote } from "../render.ts";
import type { StartSettings } from "../start-settings.ts";
import { parseTeamConfig } from "../team-config.ts";
import { DEMO_COMMANDS, type DemoCommand } from "./commands.ts";
import * as world from "./world.ts";

/** Far more than the demo needs, even after a kill. */
const MAX_DEMO_MS = 120_000;
const CHECK_MS = 100;
/** Delays that let a reader see one step after the other. */
const PUT_AT_MS = 2_000;
const EDIT_AT_MS = 3_000;
/** Slightly later than the change, because the service's clock may be read first. */
const SNAPSHOT_AT_MS = world.DEMO_CHANGE_MS + 200;

/** One step of the demo: an input and its expected end. */
interface Step {
  readonly id: string;
  /** Its start, milliseconds after the start of the demo; default: 0. */
  readonly at?: number;
  begin?(signal: AbortSignal): Promise<unknown>;
  readonly expected: string;
  /** Its end in the format of `expected`; undefined until it has ended. */
  end(): Promise<string | undefined>;
}

/** A step for a command: sent by the demo, or created from another AWS account's event. */
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
    // The event of a later run has another time, so its request is rejected, and the first command counts.
    if (!isEnded(command)) return undefined;
    const events = eventsOf(command, await readTasksOf(ledger, command));
    if (events.some(({ state }) => state === "waiting")) return undefined;
    const { status, outcome, reason } = command.state;
    const end = `${status}: ${outcome ?? reason}`;
    // After a lost reply a no-op is published as done, because either of the two sends may have had the
    // effect.
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
      // A new event id in each run, because the queue drops an event that it has seen.
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
  // Its end must also reach the team's own bus, unless an earlier run has published it.
  let isReported = (await paid.end()) !== undefined;
  routes.subscribeAs(world.DEMO_TEAM, async ({ "detail-type": type }) => {
    isReported ||= type !== "CommandAccepted";
  });
  return [
    { ...paid, end: async () => (isReported ? paid.end() : undefined) },
    put("demo-stranger", world.DEMO_STRANGER, "rejected: not-allowed"),
  ];
};

/** The text of a file; empty if the user removed it or made it unreadable. */
const textOf = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

/** The provider follows the file: the demo's text, the demo's edit, or the user's edit. */
const thresholdsStep = ({ deps: { clock }, jobAccount }: Automation, file: string): Step => {
  const end = async (): Promise<string | undefined> => {
    const config = readThresholdConfig(await textOf(file));
    const actual = await listThresholds(jobAccount.client).catch(() => undefined);
    if (config.kind === "invalid" || !actual) return undefined;
    const { thresholds, prune } = config.value;
    return planChanges(thresholds, actual, prune).changes.length === 0 ? "as wanted" : undefined;
  };
  const begin = async (signal: AbortSignal): Promise<void> => {
    // The demo edits only its own text, after the provider has followed it.
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

/** Starts each step at its time, and waits until all have ended. */
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

/** Writes a file unless it exists: the user may have edited that of an earlier run. */
const writeNew = (file: string, text: string): Promise<void> =>
  writeFile(file, text, { flag: "wx" }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  });

/**
 * Plans the demo in the folder of the run's state, or in a temporary folder. The demo neither writes files that
 * the user has named nor depends on them.
 * @throws ExitError when a file that the user has edited is invalid
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
     * Writes the missing files. Call it when this run owns the folder, before the automation starts.
     * @returns a function that runs every step to its end
     */
    async prepare(automation: Automation) {
      if (!chosen.thresholdsFile) await writeNew(thresholdsFile, world.DEMO_THRESHOLDS);
      if (!chosen.watchlistFile) await writeNew(watchlistFile, world.DEMO_WATCHLIST);
      if (hasTeams) await writeNew(accountsFile, texts.accounts);
      if (hasTeams) await writeNew(reactionsFile, texts.reactions);
      // An edited file has an unknown end, so that its step is left out.
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
    /** Removes the temporary folder, if there is one. */
    async remove() {
      if (directory === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
};

export type Demo = Awaited<ReturnType<typeof planDemo>>;
