import {
  type Command,
  commands,
  type EndedState,
  isEnded,
} from "../../../../lib/engine/command.ts";
import type { Cloud } from "../cloud/cloud.ts";

const PREFIX = `${commands.kind}#`;

/** A command that is over, as the ledger has it. */
export type Ended = Command & { readonly state: EndedState; readonly key: string };

/** Every command of the ledger that has ended. */
export const endedCommands = async ({ ledger }: Cloud): Promise<readonly Ended[]> => {
  const ended: Ended[] = [];
  for (const key of ledger.items.keys()) {
    if (!key.startsWith(PREFIX)) continue;
    const command = (await commands.read(ledger.true, key.slice(PREFIX.length)))?.value;
    if (command && isEnded(command)) ended.push({ ...command, key: key.slice(PREFIX.length) });
  }
  return ended;
};

/** When the requests of a command left, the first one first. */
export const departuresOf = ({ chronicle }: Cloud, { key }: Ended): readonly number[] =>
  chronicle.departures.filter(({ command }) => command === key).map(({ at }) => at);
