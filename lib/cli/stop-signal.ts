import type { Clock } from "../platform/ports/clock.ts";

const NAMES = ["SIGINT", "SIGTERM"] as const;
/** npm forwards a Ctrl-C that the terminal has already sent; within this time it is the same one. */
const SAME_PRESS_MS = 500;

/** Aborts at the first Ctrl-C or termination; a second one ends the process at once. */
export const stopSignal = (clock: Clock): AbortSignal => {
  const stopping = new AbortController();
  let stoppedAt: number | undefined;
  const stop = (name: NodeJS.Signals): void => {
    if (stoppedAt === undefined) {
      stoppedAt = clock.now();
      stopping.abort();
    } else if (clock.now() - stoppedAt >= SAME_PRESS_MS) {
      for (const each of NAMES) process.off(each, stop);
      // Without a listener the signal ends the process.
      process.kill(process.pid, name);
    }
  };
  for (const name of NAMES) process.on(name, stop);
  return stopping.signal;
};

/** Rejects with the signal's reason when it aborts. */
export const failedBy = async (signal: AbortSignal): Promise<never> => {
  await untilAborted(signal);
  throw signal.reason;
};

export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
