import { commands, isEnded } from "../../../lib/ledger/command.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import type { Input } from "../plan/inputs.ts";

const ENDS = new Set(["CommandSucceeded", "CommandFailed", "CommandCancelled"]);
const WORDS: Readonly<Record<string, string>> = {
  succeeded: "CommandSucceeded",
  failed: "CommandFailed",
  cancelled: "CommandCancelled",
};

const keyOf = ({ sender, detail }: Input): string => `${sender}/${detail.metadata.commandId}`;

/**
 * Invariant 1: every accepted command reaches exactly one terminal state; its terminal event is
 * published at least once, always with one id. And whoever has asked hears of it.
 */
export const checkEnds = async (
  { ledger, bus }: Cloud,
  inputs: readonly Input[],
): Promise<readonly Violation[]> => {
  const events = bus.seen();
  const violations: Violation[] = [];
  const broken = (text: string): void => {
    violations.push({ invariant: 1, text });
  };
  for (const key of new Set(inputs.map(keyOf))) {
    const command = (await commands.read(ledger.true, key))?.value;
    const its = events.filter(({ metadata }) => `${metadata.sender}/${metadata.commandId}` === key);
    const ends = its.filter(({ detailType }) => ENDS.has(detailType));
    if (!command) {
      const isRejected = events.some(
        ({ detailType, metadata, data }) =>
          detailType === "CommandRejected" &&
          `${metadata.sender}/${data.requestedCommandId ?? metadata.commandId}` === key,
      );
      if (!isRejected) broken(`${key} was asked for, and nobody has heard of it`);
      continue;
    }
    if (!isEnded(command) || !command.state.settled) {
      broken(`${key} has not ended: ${command.state.status}`);
      continue;
    }
    if (new Set(ends.map(({ id }) => id)).size !== 1) {
      broken(`${key}: ${ends.length} terminal events, of different ids or none`);
    }
    if (ends.some(({ detailType }) => detailType !== WORDS[command.state.status])) {
      broken(`${key} is ${command.state.status}, and an event says ${ends[0]?.detailType}`);
    }
  }
  return violations;
};
