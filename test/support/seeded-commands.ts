import { type Command, commandKey, commands } from "../../lib/engine/command.ts";
import { openDataDirectory } from "../../lib/local/data-directory.ts";
import { LOCAL_SENDER } from "../../lib/local/local-sender.ts";
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
 * Ended commands, each accepted a second before the next. The newest is `seeded-0`.
 * @param acceptedAt of the newest, epoch ms
 */
export const endedCommands = (count: number, acceptedAt: number): readonly Command[] =>
  Array.from({ length: count }, (_, index) => {
    const at = acceptedAt - index * APART_MS;
    const container = `container-${index % 50}`;
    const { request: _request, ...ended } = commandOf({
      id: `seeded-${index}`,
      sender: LOCAL_SENDER,
      lane: `local/container/1234567/76/${container}`,
      params: { project_id: 1234567, region_id: 76, container_name: container },
      acceptedAt: at,
      deadline: at + 7_200_000,
      state: stateOf(index, at + 500),
    });
    return ended;
  });

/** Writes commands into the data directory of a run that is not running. */
export const seedCommands = async (directory: string, all: readonly Command[]): Promise<void> => {
  const data = await openDataDirectory(directory, createSystemRandom());
  const { ledger, close } = await openLedgerIn(data.ledger, createSystemClock());
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE);
    await Promise.all(
      some.map((command) => commands.write(ledger, commandKey(command), undefined, command)),
    );
  }
  await close();
};
