import type { LogLine } from "../../../support/logs.ts";

/** A request of a mutation that left a machine. */
interface Departure {
  readonly at: number;
  readonly sandbox: string;
  /** Key of the command that it was sent for. */
  readonly command: string;
  readonly lane: string;
  /** Whether the machine held the lease of the command's attempt. */
  readonly isLeased: boolean;
}

/** What the provider did with a mutation that reached it. */
interface Effect {
  readonly at: number;
  readonly command: string;
  readonly status: number;
  /** Ids of the tasks that it answered with. */
  readonly taskIds: readonly string[];
  /** Whether its answer never came to whoever had sent it. */
  readonly isLost: () => boolean;
}

export interface Violation {
  /** Number of the invariant in the README, or 0 when the system does not come to rest. */
  readonly invariant: number;
  readonly text: string;
}

/** Everything that those who check need to know of a run, and that the system itself does not keep. */
export interface Chronicle {
  readonly departures: Departure[];
  readonly effects: Effect[];
  /** By lane, the keys of commands in the order in which they entered it. */
  readonly entered: Map<string, string[]>;
  /** By key of a command, when its end was written. */
  readonly endedAt: Map<string, number>;
  readonly lines: LogLine[];
  /** When somebody has changed the tag that guards look at, epoch ms. */
  tagChangedAt: number | undefined;
  /** What was seen to break an invariant at the moment it happened. */
  readonly violations: Violation[];
}

export const createChronicle = (): Chronicle => ({
  departures: [],
  effects: [],
  entered: new Map(),
  endedAt: new Map(),
  lines: [],
  tagChangedAt: undefined,
  violations: [],
});
