import {
  type Command,
  commands,
  type EndedState,
  isEnded,
  isEndedByTasks,
} from "../../../../lib/engine/command.ts";
import { readTask } from "../../../../lib/engine/follow.ts";
import type { Cloud } from "../cloud/cloud.ts";

const PREFIX = `${commands.kind}#`;

/** An ended command of the ledger. */
export type Ended = Command & { readonly state: EndedState; readonly key: string };

/** All ended commands of the ledger. */
export const endedCommands = async ({ ledger }: Cloud): Promise<readonly Ended[]> => {
  const ended: Ended[] = [];
  for (const key of ledger.items.keys()) {
    if (!key.startsWith(PREFIX)) continue;
    const command = (await commands.read(ledger.true, key.slice(PREFIX.length)))?.value;
    if (command && isEnded(command)) ended.push({ ...command, key: key.slice(PREFIX.length) });
  }
  return ended;
};

/** Whether its lane is passed on and all its events are published: as the command records it, or the items of its tasks. */
export const isFinished = async (
  { ledger }: Cloud,
  command: Command & { readonly state: EndedState },
): Promise<boolean> => {
  const { settled, tasks } = command.state;
  if (!isEndedByTasks(command.state)) return settled;
  const items = await Promise.all(tasks.map(({ id }) => readTask(ledger.true, command, id)));
  return items.every((item) => item && "told" in item.state && item.state.told);
};

/** When the requests of a command left, in the order of time, epoch ms. */
export const departuresOf = ({ chronicle }: Cloud, { key }: Ended): readonly number[] =>
  chronicle.departures.filter(({ command }) => command === key).map(({ at }) => at);
