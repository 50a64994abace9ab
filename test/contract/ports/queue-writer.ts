import { openLevelStore } from "../../../lib/local/durable-store.ts";
import { openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";

// Runs until it is killed: sends messages, acknowledges every third one, and prints each completed step.
const [, , directory = "", round = ""] = process.argv;
const queue = await openFifoQueue({
  map: (await openLevelStore({ directory, failing: new AbortController() })).map("commands"),
  clock: createSystemClock(),
  random: createSystemRandom(),
  maxReceiveCount: 1000,
});
/** Prints a line and resolves when it has left the process, because a kill loses buffered output. */
const print = (line: string): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write(`${line}\n`, () => resolve());
  });

for (let number = 1; ; number += 1) {
  const body = `${round}.${number}`;
  await queue.send({ body, groupId: `group-${number % 5}`, deduplicationId: body });
  await print(`sent ${body}`);
  if (number % 3 === 0) {
    const [message] = await queue.receive(1, 60_000);
    if (message === undefined) throw new Error("a message is missing");
    await print(`acknowledging ${message.body}`);
    await queue.acknowledge(message.receiptHandle);
    await print(`acknowledged ${message.body}`);
  }
}
