import type { Clock } from "../platform/ports/clock.ts";

/** The events of a run, and callers that wait for one of them. */
export interface EventRecord<E> {
  /** In the order of publishing. */
  readonly events: readonly E[];
  add(event: E): void;
  /**
   * Resolves to the first event that is wanted: one of the past, or the next.
   * @param wanted whether the caller waits for this event; rejects with its error
   * @param what names the wanted event in the error
   * @throws Error when the time is over, or when `close` is called
   */
  waitFor<W extends E>(
    wanted: (event: E) => event is W,
    what: string,
    timeoutMs: number,
  ): Promise<W>;
  /** Rejects all waits, and those to come. */
  close(): void;
}

/** @param clock measures the limits of waits */
export const createEventRecord = <E extends { readonly "detail-type": string }>(
  clock: Clock,
): EventRecord<E> => {
  const events: E[] = [];
  /** The check of each wait; it ends the wait if its event has come. */
  const waiting = new Set<() => void>();
  const closing = new AbortController();
  const checkAll = (): void => {
    for (const check of [...waiting]) check();
  };
  const seen = (): string =>
    events.length === 0
      ? "no event"
      : `${events.length} events: ${events.map((event) => event["detail-type"]).join(", ")}`;

  return {
    events,
    add(event) {
      events.push(event);
      checkAll();
    },
    async waitFor<W extends E>(
      wanted: (event: E) => event is W,
      what: string,
      timeoutMs: number,
    ): Promise<W> {
      const over = new AbortController();
      const closed = closing.signal;
      let next = 0;
      const { promise, resolve, reject } = deferred<W>();
      const check = (): void => {
        try {
          for (; next < events.length; next += 1) {
            const event = events[next];
            if (event !== undefined && wanted(event)) resolve(event);
          }
          if (closed.aborted) reject(new Error(`stopped while waiting for ${what}; saw ${seen()}`));
        } catch (error) {
          reject(error);
        }
      };
      waiting.add(check);
      check();
      void clock
        .sleep(timeoutMs, over.signal)
        .then(() => reject(new Error(`no ${what} within ${timeoutMs} ms; saw ${seen()}`)));
      try {
        return await promise;
      } finally {
        over.abort();
        waiting.delete(check);
      }
    },
    close() {
      closing.abort();
      checkAll();
    },
  };
};

/** `Promise.withResolvers`, which Node 20 lacks. */
const deferred = <T>() => {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
};
