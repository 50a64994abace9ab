import * as z from "zod";
import { commandKey, commands, isEnded } from "../engine/command.ts";
import type { Automation } from "../local/automation.ts";
import { DEMO_COMMANDS, type DemoCommand } from "../local/demo.ts";
import { LOCAL_SENDER } from "../local/own-account.ts";
import { sendRequest } from "../local/send-request.ts";
import type { DemoFiles } from "./demo-files.ts";
import type { DemoStep } from "./demo-step.ts";
import type { DemoTeams } from "./demo-teams.ts";

/** Far more than the demo needs, even after a kill in its middle. */
const MAX_DEMO_MS = 120_000;
const LOOK_MS = 100;

/** What became of one step of the demo, in the words of its expectation. */
interface DemoEnd {
  readonly id: string;
  readonly expected: string;
  /** Undefined while it has not ended. */
  readonly end: string | undefined;
  readonly isExpected: boolean;
}

const words = (end: {
  status: string;
  outcome?: string | undefined;
  reason?: string | undefined;
}) => [end.status, end.outcome ?? end.reason].filter(Boolean).join(": ");

const rejectedSchema = z.object({
  metadata: z.object({ commandId: z.string().optional() }),
  data: z.object({ reason: z.string() }),
});

const NOBODYS: z.output<typeof rejectedSchema> = { metadata: {}, data: { reason: "" } };

/** Collects the rejections of this run: a rejected request leaves nothing in the ledger. */
const watchRejections = ({ bus }: Automation): ReadonlyMap<string, string> => {
  const reasons = new Map<string, string>();
  bus.subscribeToOwn(async (event) => {
    if (event["detail-type"] !== "CommandRejected") return;
    const { metadata, data } = rejectedSchema.safeParse(event.detail).data ?? NOBODYS;
    if (metadata.commandId !== undefined) reasons.set(metadata.commandId, data.reason);
  });
  return reasons;
};

/**
 * Whether a command ended as it should. After a lost reply a success is published as done, even where
 * nothing was to be done: which of the two sends had the effect is unknown.
 */
const isExpectedEnd = (command: DemoCommand, end: string | undefined, lostReplies: number) =>
  end === words(command.expect) ||
  (lostReplies > 0 && command.expect.status === "succeeded" && end === "succeeded: done");

/** How a command has ended; no `end` while it goes on or has something left to publish. */
const endOf = async (
  { deps }: Automation,
  command: DemoCommand,
  rejections: ReadonlyMap<string, string>,
): Promise<DemoEnd> => {
  const reason = rejections.get(command.id);
  const key = commandKey({ sender: LOCAL_SENDER, id: command.id });
  const found = (await commands.read(deps.ledger, key))?.value;
  const isSettled = found && isEnded(found) && found.state.settled;
  const ended = reason === undefined ? isSettled && found.state : { status: "rejected", reason };
  const end = ended ? words(ended) : undefined;
  const isExpected = isExpectedEnd(command, end, found?.lostReplies ?? 0);
  return { id: command.id, expected: words(command.expect), end, isExpected };
};

const endOfStep = async (automation: Automation, step: DemoStep): Promise<DemoEnd> => {
  const { id, expected } = step;
  const end = await step.look(automation);
  return { id, expected, end, isExpected: end === expected };
};

const sendAll = async ({ deps }: Automation): Promise<void> => {
  for (const { id, operation, params, body } of DEMO_COMMANDS) {
    const data = { operation, params, ...(body !== undefined && { body }) };
    // A new event each run: the queue drops an event that it has seen, and with it the answer.
    const metadata = { id: deps.random.uuid(), commandId: id };
    await sendRequest(deps, JSON.stringify({ metadata, data }));
  }
};

/** What happens beside the commands. */
export interface DemoPlan {
  readonly files: DemoFiles;
  /** Absent where the person has named files of their own. */
  readonly teams: DemoTeams | undefined;
}

export interface Demo {
  /**
   * Sends every demo command at once, lets the jobs have something to do, and waits until each has
   * ended and told so.
   */
  run(signal: AbortSignal): Promise<readonly DemoEnd[]>;
}

/** To be made before the automation starts, so that no rejection is missed. */
export const prepareDemo = (
  automation: Automation,
  { files, teams }: DemoPlan,
  steps: readonly DemoStep[],
): Demo => {
  const rejections = watchRejections(automation);
  const lookAtAll = (): Promise<readonly DemoEnd[]> =>
    Promise.all([
      ...DEMO_COMMANDS.map((command) => endOf(automation, command, rejections)),
      ...steps.map((step) => endOfStep(automation, step)),
    ]);
  const { clock } = automation.deps;
  return {
    async run(signal) {
      const endsAt = clock.now() + MAX_DEMO_MS;
      await sendAll(automation);
      let isPlayed = false;
      const plays = [files, teams].map((part) => part?.play(automation, signal));
      const played = Promise.all(plays).finally(() => {
        isPlayed = true;
      });
      // What goes wrong there is told when all else has ended, and must not end the program before.
      played.catch(() => {});
      for (;;) {
        const ends = await lookAtAll();
        const isOver = isPlayed && ends.every(({ end }) => end !== undefined);
        if (isOver || clock.now() >= endsAt || signal.aborted) {
          await played;
          await automation.bus.delivered();
          return ends;
        }
        await clock.sleep(LOOK_MS, signal);
      }
    },
  };
};

/** The demo's result in words: one line, and one more for every step that surprised. */
export const demoSummary = (ends: readonly DemoEnd[]): string => {
  const surprising = ends.filter(({ isExpected }) => !isExpected);
  return [
    `${ends.length - surprising.length} of ${ends.length} steps of the demo ended as expected`,
    ...surprising.map(
      ({ id, expected, end }) => `  ${id}: expected ${expected}, was ${end ?? "not ended"}`,
    ),
  ].join("\n");
};
