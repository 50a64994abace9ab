/** The only source of time. Instants are epoch milliseconds. */
export interface Clock {
  now(): number;
  /** Resolves after `durationMs`, or at once when the signal aborts. Never rejects. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}
