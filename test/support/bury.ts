import { openDataDirectory } from "../../lib/local/data-directory.ts";
import { openLevelStore } from "../../lib/local/durable-store.ts";
import { openFifoQueue } from "../../lib/local/fifo-queue.ts";
import { createSystemClock, createSystemRandom } from "../../lib/platform/system.ts";

/** Leaves messages in a data directory's queue of commands, in the state after ten failed receives each. */
export const buryIn = async (folder: string, bodies: readonly string[]): Promise<void> => {
  const random = createSystemRandom();
  const store = await openLevelStore({
    directory: (await openDataDirectory(folder, random)).messages,
    failing: new AbortController(),
  });
  const map = store.map("commands.fifo");
  const queue = await openFifoQueue({
    map,
    clock: createSystemClock(),
    random,
    maxReceiveCount: 1,
  });
  for (const [at, body] of bodies.entries()) {
    await queue.send({ body, groupId: "g1", deduplicationId: `d${at}` });
  }
  await queue.receive(10, 0);
  await queue.receive(10, 0);
  await store.close();
};
