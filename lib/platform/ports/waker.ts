/** Asks for a run of the poller before its next scheduled one. A lost wake costs time, never truth. */
export interface Waker {
  /** A poller run starts at or soon after `at` (epoch ms); resolves when the request is durable. */
  wakeAt(at: number): Promise<void>;
}
