import { type Command, commandKey, commands } from "../../lib/engine/command.ts";
import { LOCAL_SENDER } from "../../lib/local/aws-events.ts";
import { openDataDirectory } from "../../lib/local/data-directory.ts";
import { createSystemClock, createSystemRandom } from "../../lib/platform/system.ts";
import { commandOf } from "./commands.ts";
import { openLedgerIn } from "./local-ledger.ts";

/** Writes that share a sync of the disk. */
const AT_ONCE = 1_000;
const APART_MS = 1_000;

/** Every hundredth command failed, the others succeeded. */
const stateOf = (index: number, endedAt: number): Command["state"] => ({
  ...(index % 100 === 0
    ? { status: "failed", reason: "task-failed" }
    : { status: "succeeded", outcome: "done" }),
  endedAt,
  settled: true,
  tasks: [],
});

/**
 * Writes ended commands into the data directory of a run that is not running. The newest is `seeded-0`; each
 * one was accepted a second before the next.
 * @param acceptedAt of the newest, epoch ms
 */
export const seedCommands = async (
  directory: string,
  count: number,
  acceptedAt: number,
): Promise<void> => {
  const data = await openDataDirectory(directory, createSystemRandom());
  const { ledger, close } = await openLedgerIn(data.ledger, createSystemClock());
  const write = async (index: number): Promise<void> => {
    const at = acceptedAt - index * APART_MS;
    const { request: _, ...ended } = commandOf({
      id: `seeded-${index}`,
      sender: LOCAL_SENDER,
      lane: `local/container/1234567/76/container-${index % 50}`,
      params: { project_id: 1234567, region_id: 76, container_name: `container-${index % 50}` },
      acceptedAt: at,
      deadline: at + 7_200_000,
      state: stateOf(index, at + 500),
    });
    await commands.write(ledger, commandKey(ended), undefined, ended);
  };
  for (let from = 0; from < count; from += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - from);
    await Promise.all(Array.from({ length: size }, (_, index) => write(from + index)));
  }
  await close();
};
