import { openLevelStore } from "../../../lib/local/durable-store.ts";
import { openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";

// To be killed: sends for ever and acknowledges every third message, and prints what is done.
const [, , directory = "", round = ""] = process.argv;
const queue = await openFifoQueue({
  map: (await openLevelStore({ directory, failing: new AbortController() })).map("commands"),
  clock: createSystemClock(),
  random: createSystemRandom(),
  maxReceiveCount: 1000,
});
/** Resolves when the line has left this process: what waits in its memory is lost with it. */
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
