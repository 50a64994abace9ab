import { type Command, commands, isEnded, type Resolution } from "../engine/command.ts";
import { commandResolved } from "../engine/command-events.ts";
import { resolveOutcome } from "../engine/command-transitions.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Finding, ResolveAnswer } from "./answers.ts";

/** Whether nothing of a finding would be lost if the kept one stays. */
const says = (resolution: Resolution, { applied, note }: Finding): boolean =>
  resolution.applied === applied && (note === undefined || note === resolution.note);

const answerOf = (command: Command, finding: Finding): ResolveAnswer => {
  if (!isEnded(command)) return { kind: "open", status: command.state.status };
  const { resolution, state } = command;
  if (!resolution) {
    const { status, reason } = state;
    return { kind: "known", status, ...(reason !== undefined && { reason }) };
  }
  return {
    ...resolution,
    kind: says(resolution, finding) ? "resolved" : "resolved-otherwise",
    resolvedAt: new Date(resolution.resolvedAt).toISOString(),
  };
};

/**
 * Keeps a person's finding about a command that ended with an unknown outcome, once. One conditional
 * write; its event is left to whoever finishes ended commands. Asked again, it answers the same.
 * @returns undefined when there is no such command
 */
export const resolveCommand = async (
  deps: { readonly ledger: Ledger; readonly clock: Clock },
  key: string,
  finding: Finding,
): Promise<ResolveAnswer | undefined> => {
  if (!(await commands.read(deps.ledger, key))) return undefined;
  const resolution: Resolution = {
    applied: finding.applied,
    resolvedAt: deps.clock.now(),
    ...(finding.note !== undefined && { note: finding.note }),
  };
  const { value } = await commands.update(deps.ledger, key, (command) =>
    resolveOutcome(command, resolution, commandResolved(command, resolution)),
  );
  return answerOf(value, finding);
};
