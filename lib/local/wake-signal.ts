/** Wakes whoever waits for something to do, so that nobody has to look all the time. */
export interface Doorbell {
  /** Aborts at the next ring. To be taken before looking, so that no ring is missed. */
  next(): AbortSignal;
  ring(): void;
}

export const createDoorbell = (): Doorbell => {
  let bell = new AbortController();
  return {
    next: () => bell.signal,
    ring() {
      const rung = bell;
      bell = new AbortController();
      rung.abort();
    },
  };
};
