import type { Clock } from "../platform/ports/clock.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { type CommandDeskFlags, deskFlagsText, openCommandDesk } from "./open-desk.ts";
import { printResult } from "./output.ts";
import { reportText } from "./report-text.ts";
import { exitCodeOf } from "./state-text.ts";
import { jsonLine } from "./visible-text.ts";

export const noSuchCommand = (commandId: string): ExitError =>
  new ExitError(
    EXIT.refused,
    `no command ${commandId} here: never sent, still queued, or rejected`,
  );

/** Prints where a command stands, and how it came there. @throws ExitError when nobody knows it */
export const showStatus = async (
  commandId: string,
  flags: CommandDeskFlags,
  clock: Clock,
): Promise<ExitCode> => {
  const desk = await openCommandDesk(flags, clock);
  const state = await desk.look(commandId);
  if (!state) {
    throw new ExitError(
      EXIT.refused,
      `no command ${commandId} here, and no rejection in the last 30 days: never sent, or still queued`,
    );
  }
  const { sender: _, ...place } = flags;
  const flagsOf = (given: CommandDeskFlags) => deskFlagsText(given, process.env.SKYHOOK_ENDPOINT);
  printResult(flags.json ? jsonLine(state) : reportText(state, flagsOf(flags), flagsOf(place)));
  return exitCodeOf(state);
};
