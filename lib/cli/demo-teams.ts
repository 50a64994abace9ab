import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commandKey, commands, isEnded } from "../engine/command.ts";
import type { Automation } from "../local/automation.ts";
import {
  DEMO_ACCOUNTS,
  DEMO_EVENT,
  DEMO_EVENT_ID,
  DEMO_REACTION,
  DEMO_REACTIONS,
  DEMO_STRANGER,
  DEMO_TEAM,
} from "../local/demo-teams.ts";
import type { DemoStep } from "./demo-step.ts";
import { parseTeamConfig, type TeamReading } from "./team-config.ts";

/** So that a person sees it after what was sent at the start. */
const PUT_AFTER_MS = 2_000;

/** Another team's event that becomes a command, and the same event of somebody without rights. */
export interface DemoTeams {
  readonly reading: TeamReading;
  /** Writes the files that are not there. To be called when the folder is known to be ours. */
  write(): Promise<void>;
  /** What is expected. To be called before the automation starts, so that no event is missed. */
  expect(automation: Automation): readonly DemoStep[];
  /** Lets both AWS accounts put their event. */
  play(automation: Automation, signal: AbortSignal): Promise<void>;
}

const COMMAND_ID = `${DEMO_EVENT_ID}:${DEMO_REACTION}`;

/** The command of the team's event, and whether its end has come back to the team's own bus. */
const paidStep = (automation: Automation): DemoStep => {
  const { deps, routes } = automation;
  const startedAt = deps.clock.now();
  let isTold = false;
  routes.subscribeAs(DEMO_TEAM, async ({ detail, "detail-type": detailType }) => {
    const { metadata } = detail;
    const isOfCommand = JSON.stringify(metadata).includes(`"commandId":"${COMMAND_ID}"`);
    if (isOfCommand && detailType === "CommandSucceeded") isTold = true;
  });
  return {
    id: "demo-paid-invoice",
    expected: "succeeded, and told on the team's own bus",
    async look() {
      const key = commandKey({ sender: DEMO_TEAM, id: COMMAND_ID });
      const command = (await commands.read(deps.ledger, key))?.value;
      if (!command || !isEnded(command) || !command.state.settled) return undefined;
      const { status, endedAt } = command.state;
      if (status !== "succeeded") return status;
      // What had ended in an earlier run was told then.
      return isTold || endedAt < startedAt ? this.expected : undefined;
    },
  };
};

const refusedStep = ({ bus }: Automation): DemoStep => {
  let reason: string | undefined;
  bus.subscribeToOwn(async ({ detail, "detail-type": detailType }) => {
    const { metadata, data } = detail;
    const isOfStranger = JSON.stringify(metadata).includes(`"sender":"${DEMO_STRANGER}"`);
    if (isOfStranger && detailType === "CommandRejected") reason = JSON.stringify(data);
  });
  return {
    id: "demo-stranger",
    expected: "rejected: not-allowed",
    look: async () => {
      if (reason === undefined) return undefined;
      return reason.includes('"reason":"not-allowed"') ? "rejected: not-allowed" : "rejected";
    },
  };
};

const textOf = (file: string): Promise<string | undefined> =>
  readFile(file, "utf8").catch(() => undefined);

/**
 * Plans the demo's teams by the files in the folder, or the demo's own where there are none.
 * @throws ExitError when a file that a person has edited is wrong
 */
export const planDemoTeams = async (folder: string, eventSource: string): Promise<DemoTeams> => {
  const files = {
    accountsFile: join(folder, "accounts.yaml"),
    reactionsFile: join(folder, "reactions.yaml"),
  };
  const texts = {
    accounts: (await textOf(files.accountsFile)) ?? DEMO_ACCOUNTS,
    reactions: (await textOf(files.reactionsFile)) ?? DEMO_REACTIONS,
  };
  const config = parseTeamConfig(files, texts, eventSource);
  // Of files that a person has edited nobody knows what they let happen.
  const isOurs = texts.accounts === DEMO_ACCOUNTS && texts.reactions === DEMO_REACTIONS;
  return {
    reading: { files, texts, config },
    async write() {
      await writeFile(files.accountsFile, texts.accounts);
      await writeFile(files.reactionsFile, texts.reactions);
    },
    expect: (automation) => (isOurs ? [paidStep(automation), refusedStep(automation)] : []),
    async play({ deps, routes }, signal) {
      await deps.clock.sleep(PUT_AFTER_MS, signal);
      if (!isOurs || signal.aborted) return;
      for (const account of [DEMO_TEAM, DEMO_STRANGER]) {
        await routes.put({ ...DEMO_EVENT, account, id: DEMO_EVENT_ID });
      }
    },
  };
};
